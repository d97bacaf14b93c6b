// What takes more of the machine than a policy gives: processes, descriptors, files, time, memory;
// and the ways out of a limit.

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

// Both of a pair go on making others until so many were made, or one could not be.
[[noreturn]] void go_on_forking(std::atomic<int>* left, std::atomic<int>* refused) {
  while (left->fetch_sub(1) > 0 && *refused == 0) {
    if (::fork() < 0) {
      *refused = errno;
    }
  }
  ::pause();
  ::_exit(0);
}

// MANY: a tree of processes that all make more; they end with the one that began.
int fork_bomb(const Args& args) {
  auto* shared = static_cast<std::atomic<int>*>(
      ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::atomic<int>* refused = shared + 1;
  shared[0] = number(args[0]);
  const int first = ::fork();
  if (first < 0) {
    return errno;
  }
  if (first == 0) {
    ::setpgid(0, 0);
    go_on_forking(&shared[0], refused);
  }
  while (shared[0] > 0 && *refused == 0) {
    ::usleep(1000);
  }
  ::kill(-first, SIGKILL);
  while (::waitpid(first, nullptr, 0) < 0 && errno == EINTR) {
  }
  return *refused;
}

// MANY descriptors at once.
int open_many(const Args& args) {
  std::vector<int> held;
  int result = 0;
  while (result == 0 && static_cast<int>(held.size()) < number(args[0])) {
    const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    result = result_of(fd);
    held.push_back(fd);
  }
  for (const int fd : held) {
    ::close(fd);
  }
  return result;
}

// PATH SIZE: by one who does not want to hear of it.
int write_large(const Args& args) {
  ::signal(SIGXFSZ, SIG_IGN);
  const int fd = ::open(args[0].c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) {
    return errno;
  }
  const std::string piece(4096, 'x');
  int result = 0;
  for (int written = 0; written < number(args[1]) && result == 0; written += 4096) {
    result = result_of(::write(fd, piece.data(), piece.size()));
  }
  ::close(fd);
  return result;
}

// The hard limit of descriptors, as far as one who may raise it.
int raise_limit(const Args&) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlimit more = {limit.rlim_cur, limit.rlim_max + 1};
  return result_of(::prlimit(::getpid(), RLIMIT_NOFILE, &more, nullptr));
}

// MILLISECONDS of processor time.
int spin(const Args& args) {
  timespec used{};
  while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < number(args[0])) {
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  }
  return 0;
}

// MEBIBYTES, each page written.
int hold_memory(const Args& args) {
  const std::size_t size = static_cast<std::size_t>(number(args[0])) << 20;
  void* held = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (held == MAP_FAILED) {
    return errno;
  }
  std::memset(held, 1, size);
  ::munmap(held, size);
  return 0;
}

// FILE: moves itself into the control group that it is of.
int enter_group(const Args& args) {
  const int fd = ::open(args[0].c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const std::string pid = std::to_string(::getpid());
  const int result = result_of(::write(fd, pid.data(), pid.size()));
  ::close(fd);
  return result;
}

}  // namespace

const Attempts& limit_attempts() {
  static const Attempts attempts = {
      {"fork_bomb", 1, fork_bomb},     {"open_many", 1, open_many}, {"write_large", 2, write_large},
      {"raise_limit", 0, raise_limit}, {"spin", 1, spin},           {"hold_memory", 1, hold_memory},
      {"enter_group", 1, enter_group},
  };
  return attempts;
}

}  // namespace attacks
