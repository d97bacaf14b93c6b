#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

// Name and parent of a process: "12 (name) S 34 ..."; the name may hold parentheses.
bool read_stat(int pid, std::string* name, int* parent) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  char text[512] = {};
  const ssize_t got = fd < 0 ? -1 : ::read(fd, text, sizeof text - 1);
  ::close(fd);
  const char* open = got > 0 ? std::strchr(text, '(') : nullptr;
  const char* end = got > 0 ? std::strrchr(text, ')') : nullptr;
  if (open == nullptr || end == nullptr) {
    return false;
  }
  name->assign(open + 1, end);
  *parent = std::atoi(end + 4);
  return true;
}

int ancestor_named(const char* wanted) {
  int pid = ::getpid();
  std::string name;
  for (int parent = 0; pid > 1 && read_stat(pid, &name, &parent); pid = parent) {
    if (name == wanted) {
      return pid;
    }
  }
  return 0;
}

}  // namespace

int result_of(long returned) {
  return returned < 0 ? errno : 0;
}

int number(const std::string& text) {
  return static_cast<int>(std::strtol(text.c_str(), nullptr, 0));
}

int pid_of(const std::string& text) {
  int pid = number(text);
  if (text == "supervisor") {
    pid = ancestor_named("aasm");
  } else if (text == "warden") {
    pid = ancestor_named("aasm-warden");
  }
  if (pid < 2) {
    std::fprintf(stderr, "no process %s\n", text.c_str());
    ::_exit(98);
  }
  return pid;
}

void leak(const char* data, std::size_t size) {
  std::printf("leak: ");
  for (std::size_t i = 0; i < size; ++i) {
    std::putchar(data[i] >= ' ' && data[i] <= '~' ? data[i] : ' ');
  }
  std::printf("\n");
  std::fflush(stdout);
}

int leak_from(int fd) {
  if (fd < 0) {
    return errno;
  }
  static char data[1 << 16];
  const ssize_t got = ::read(fd, data, sizeof data);
  const int result = result_of(got);
  ::close(fd);
  if (got > 0) {
    leak(data, static_cast<std::size_t>(got));
  }
  return result;
}

int fork_with_pipe(int* ends) {
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return -1;
  }
  std::fflush(stdout);
  return ::fork();
}

void report_and_end(int write_end, int result) {
  std::fflush(stdout);
  [[maybe_unused]] const ssize_t written = ::write(write_end, &result, sizeof result);
  ::_exit(0);
}

int wait_for_result(int pid, int read_end, int write_end) {
  ::close(write_end);
  int result = -1;
  if (::read(read_end, &result, sizeof result) != sizeof result) {
    result = -1;
  }
  ::close(read_end);
  ::waitpid(pid, nullptr, 0);
  return result;
}

}  // namespace attacks
