// Getting at other processes: their memory, environment, descriptors and settings.

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

std::string proc(const std::string& pid, const std::string& name) {
  return "/proc/" + std::to_string(pid_of(pid)) + "/" + name;
}

// PID NAME: a file of its folder in /proc.
int read_proc(const Args& args) {
  return leak_from(::open(proc(args[0], args[1]).c_str(), O_RDONLY | O_CLOEXEC));
}

int write_proc(const Args& args) {
  const int fd = ::open(proc(args[0], args[1]).c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  const int result = result_of(::write(fd, args[2].c_str(), args[2].size()));
  ::close(fd);
  return result;
}

int list_proc(const Args& args) {
  DIR* directory = ::opendir(proc(args[0], args[1]).c_str());
  if (directory == nullptr) {
    return errno;
  }
  while (const dirent* entry = ::readdir(directory)) {
    leak(entry->d_name, std::strlen(entry->d_name));
  }
  ::closedir(directory);
  return 0;
}

int read_proc_link(const Args& args) {
  char target[4096];
  const ssize_t size = ::readlink(proc(args[0], args[1]).c_str(), target, sizeof target);
  if (size < 0) {
    return errno;
  }
  leak(target, static_cast<std::size_t>(size));
  return 0;
}

// PID: opens every descriptor it has, for writing. 0 when one of them could be opened.
int open_descriptors(const Args& args) {
  int result = EBADF;
  for (int fd = 0; fd < 64; ++fd) {
    const std::string name = proc(args[0], "fd/" + std::to_string(fd));
    char target[64] = {};
    if (::readlink(name.c_str(), target, sizeof target - 1) < 0) {
      result = errno == ENOENT ? result : errno;
      continue;
    }
    const int opened = target[0] == '/' ? ::open(name.c_str(), O_RDWR | O_CLOEXEC) : -1;
    if (opened >= 0) {
      leak(target, std::strlen(target));
      return 0;
    }
  }
  return result;
}

// PID ADDRESS: memory at a place known to hold something.
int read_memory_file(const Args& args) {
  const int fd = ::open(proc(args[0], "mem").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return errno;
  }
  char data[64] = {};
  const off_t place = static_cast<off_t>(std::strtoull(args[1].c_str(), nullptr, 16));
  const int result = result_of(::pread(fd, data, sizeof data - 1, place));
  leak(data, std::strlen(data));
  ::close(fd);
  return result;
}

int open_memory_for_writing(const Args& args) {
  const int fd = ::open(proc(args[0], "mem").c_str(), O_RDWR | O_CLOEXEC);
  const int result = result_of(fd);
  ::close(fd);
  return result;
}

int read_memory(const Args& args) {
  char data[64] = {};
  iovec local = {data, sizeof data - 1};
  iovec remote = {reinterpret_cast<void*>(std::strtoull(args[1].c_str(), nullptr, 16)),
                  sizeof data - 1};
  const int result = result_of(::process_vm_readv(pid_of(args[0]), &local, 1, &remote, 1, 0));
  leak(data, std::strlen(data));
  return result;
}

int write_memory(const Args& args) {
  char data[] = "taken";
  iovec local = {data, 5};
  iovec remote = {reinterpret_cast<void*>(std::strtoull(args[1].c_str(), nullptr, 16)), 5};
  return result_of(::process_vm_writev(pid_of(args[0]), &local, 1, &remote, 1, 0));
}

int attach(const Args& args) {
  const int pid = pid_of(args[0]);
  if (::ptrace(PTRACE_ATTACH, pid, nullptr, nullptr) != 0) {
    return errno;
  }
  ::waitpid(pid, nullptr, __WALL);
  return result_of(::ptrace(PTRACE_DETACH, pid, nullptr, nullptr));
}

int seize(const Args& args) {
  return result_of(::ptrace(PTRACE_SEIZE, pid_of(args[0]), nullptr, nullptr));
}

// PID FD
int take_descriptor(const Args& args) {
  const long pidfd = ::syscall(SYS_pidfd_open, pid_of(args[0]), 0);
  if (pidfd < 0) {
    return errno;
  }
  const long fd = ::syscall(SYS_pidfd_getfd, pidfd, number(args[1]), 0);
  return fd < 0 ? errno : leak_from(static_cast<int>(fd));
}

int compare(const Args& args) {
  return result_of(::syscall(SYS_kcmp, ::getpid(), pid_of(args[0]), KCMP_FILE, 0, number(args[1])));
}

int limit(const Args& args) {
  const rlimit none = {1, 1};
  return result_of(::prlimit(pid_of(args[0]), RLIMIT_NPROC, &none, nullptr));
}

// Where its threads keep their locks.
int find_locks(const Args& args) {
  void* head = nullptr;
  std::size_t size = 0;
  return result_of(::syscall(SYS_get_robust_list, pid_of(args[0]), &head, &size));
}

int starve(const Args& args) {
  const sched_param none{};
  return result_of(::sched_setscheduler(pid_of(args[0]), SCHED_IDLE, &none));
}

int pin(const Args& args) {
  const int pid = pid_of(args[0]);
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) {
    return errno;
  }
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) {
    ++first;
  }
  CPU_ZERO(&cpus);
  CPU_SET(first, &cpus);
  return result_of(::sched_setaffinity(pid, sizeof cpus, &cpus));
}

int lower_io_priority(const Args& args) {
  constexpr int kOfProcess = 1;
  constexpr int kIdle = 3 << 13;
  return result_of(::syscall(SYS_ioprio_set, kOfProcess, pid_of(args[0]), kIdle));
}

int move_pages(const Args& args) {
  return result_of(::syscall(SYS_move_pages, pid_of(args[0]), 0, nullptr, nullptr, nullptr, 0));
}

int advise_memory(const Args& args) {
  const long pidfd = ::syscall(SYS_pidfd_open, pid_of(args[0]), 0);
  constexpr int kCold = 20;
  iovec range = {reinterpret_cast<void*>(std::strtoull(args[1].c_str(), nullptr, 16) & ~0xFFFULL),
                 4096};
  return pidfd < 0 ? errno : result_of(::syscall(SYS_process_madvise, pidfd, &range, 1, kCold, 0));
}

bool has(const char* data, ssize_t size, const std::string& word) {
  return size > 0 &&
         ::memmem(data, static_cast<std::size_t>(size), word.data(), word.size()) != nullptr;
}

// MARK in two halves, so that no command line holds it: looks through what /proc shows of every
// process but ours.
int hunt(const Args& args) {
  const std::string mark = args[0] + args[1];
  static char data[1 << 16];
  DIR* all = ::opendir("/proc");
  int result = ENOENT;
  while (const dirent* entry = all == nullptr ? nullptr : ::readdir(all)) {
    const int pid = std::atoi(entry->d_name);
    if (pid < 1 || pid == ::getpid()) {
      continue;
    }
    for (const char* name : {"environ", "cmdline", "auxv", "maps", "stack", "fd/9"}) {
      const std::string path = std::string("/proc/") + entry->d_name + "/" + name;
      const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
      const ssize_t got = fd < 0 ? 0 : ::read(fd, data, sizeof data);
      ::close(fd);
      if (has(data, got, mark)) {
        leak(path.data(), path.size());
        leak(data, static_cast<std::size_t>(got));
        result = 0;
      }
    }
  }
  return result;
}

}  // namespace

const Attempts& process_attempts() {
  static const Attempts list = {
      {"read_proc", 2, read_proc},
      {"write_proc", 3, write_proc},
      {"list_proc", 2, list_proc},
      {"read_proc_link", 2, read_proc_link},
      {"open_descriptors", 1, open_descriptors},
      {"read_memory_file", 2, read_memory_file},
      {"open_memory_for_writing", 1, open_memory_for_writing},
      {"read_memory", 2, read_memory},
      {"write_memory", 2, write_memory},
      {"attach", 1, attach},
      {"seize", 1, seize},
      {"take_descriptor", 2, take_descriptor},
      {"compare", 2, compare},
      {"limit", 1, limit},
      {"find_locks", 1, find_locks},
      {"renice", 1,
       [](const Args& a) {
         return result_of(::setpriority(PRIO_PROCESS, static_cast<id_t>(pid_of(a[0])), 19));
       }},
      {"starve", 1, starve},
      {"pin", 1, pin},
      {"lower_io_priority", 1, lower_io_priority},
      {"move_pages", 1, move_pages},
      {"advise_memory", 2, advise_memory},
      {"hunt", 2, hunt},
  };
  return list;
}

}  // namespace attacks
