// Every way to send a signal to a process that is not of the tree.

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "probe.h"

namespace attacks {
namespace {

// PID SIGNAL, in all of these.
int by_kill(const Args& args) {
  return result_of(::kill(pid_of(args[0]), number(args[1])));
}

int by_thread_kill(const Args& args) {
  const int pid = pid_of(args[0]);
  return result_of(::syscall(SYS_tgkill, pid, pid, number(args[1])));
}

int by_old_thread_kill(const Args& args) {
  return result_of(::syscall(SYS_tkill, pid_of(args[0]), number(args[1])));
}

// Each of its threads by its own number.
int to_every_thread(const Args& args) {
  const int pid = pid_of(args[0]);
  const std::string folder = "/proc/" + std::to_string(pid) + "/task";
  DIR* tasks = ::opendir(folder.c_str());
  int result = ESRCH;
  while (const dirent* entry = tasks == nullptr ? nullptr : ::readdir(tasks)) {
    const int tid = std::atoi(entry->d_name);
    if (tid > 1 && result != 0) {
      result = result_of(::syscall(SYS_tgkill, pid, tid, number(args[1])));
    }
  }
  return result;
}

siginfo_t own_info(int signal) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  return info;
}

int by_queue(const Args& args) {
  siginfo_t info = own_info(number(args[1]));
  return result_of(::syscall(SYS_rt_sigqueueinfo, pid_of(args[0]), number(args[1]), &info));
}

int by_thread_queue(const Args& args) {
  const int pid = pid_of(args[0]);
  siginfo_t info = own_info(number(args[1]));
  return result_of(::syscall(SYS_rt_tgsigqueueinfo, pid, pid, number(args[1]), &info));
}

int by_descriptor(const Args& args) {
  const long pidfd = ::syscall(SYS_pidfd_open, pid_of(args[0]), 0);
  return pidfd < 0
             ? errno
             : result_of(::syscall(SYS_pidfd_send_signal, pidfd, number(args[1]), nullptr, 0));
}

// The folder of a process in /proc is a descriptor of it too.
int by_proc_folder(const Args& args) {
  const std::string folder = "/proc/" + std::to_string(pid_of(args[0]));
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? errno
                : result_of(::syscall(SYS_pidfd_send_signal, fd, number(args[1]), nullptr, 0));
}

// A descriptor that tells its owner when it can be read; the owner is somebody else. The kernel
// says nothing of a refusal, so this goes through and its effect has to be looked for.
int by_owner(const Args& args) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
      ::fcntl(ends[0], F_SETOWN, pid_of(args[0])) != 0 ||
      ::fcntl(ends[0], F_SETSIG, number(args[1])) != 0 || ::fcntl(ends[0], F_SETFL, O_ASYNC) != 0) {
    return errno;
  }
  const int result = result_of(::write(ends[1], "x", 1));
  ::usleep(100000);
  return result;
}

// SIGNAL: as by_owner, where the owner is our process group. Whoever asks is its newest member.
int by_owner_group(const Args& args) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
      ::fcntl(ends[0], F_SETOWN, -::getpgrp()) != 0 ||
      ::fcntl(ends[0], F_SETSIG, number(args[0])) != 0 || ::fcntl(ends[0], F_SETFL, O_ASYNC) != 0) {
    return errno;
  }
  const int result = result_of(::write(ends[1], "x", 1));
  ::usleep(100000);
  return result;
}

// PID SIGNAL: to its group, by a descriptor of the process (Linux 6.9).
int by_descriptor_of_group(const Args& args) {
  constexpr unsigned kSignalProcessGroup = 4;
  const long pidfd = ::syscall(SYS_pidfd_open, pid_of(args[0]), 0);
  const int result = pidfd < 0 ? errno
                               : result_of(::syscall(SYS_pidfd_send_signal, pidfd, number(args[1]),
                                                     nullptr, kSignalProcessGroup));
  ::usleep(100000);
  return result;
}

// SIGNAL to the whole process group, which the supervisor and the warden share with us. Every
// process of this program ignores SIGVTALRM, and aasm does not relay it.
int to_own_group(const Args& args) {
  const int signal = number(args[0]);
  ::signal(signal, SIG_IGN);
  const int result = result_of(::kill(0, signal));
  ::usleep(100000);
  return result;
}

// PID SIGNAL: to the group of that process.
int to_group_of(const Args& args) {
  const int group = ::getpgid(pid_of(args[0]));
  ::signal(number(args[1]), SIG_IGN);
  const int result = group < 2 ? EPERM : result_of(::kill(-group, number(args[1])));
  ::usleep(100000);
  return result;
}

}  // namespace

const Attempts& signal_attempts() {
  static const Attempts list = {
      {"kill", 2, by_kill},
      {"tgkill", 2, by_thread_kill},
      {"tkill", 2, by_old_thread_kill},
      {"tgkill_every_thread", 2, to_every_thread},
      {"sigqueue", 2, by_queue},
      {"tgsigqueue", 2, by_thread_queue},
      {"pidfd_signal", 2, by_descriptor},
      {"proc_folder_signal", 2, by_proc_folder},
      {"owner_signal", 2, by_owner},
      {"owner_signal_own_group", 1, by_owner_group},
      {"owner_signal_from_child", 1,
       [](const Args& a) { return in_child([&a] { return by_owner_group(a); }); }},
      {"pidfd_signal_group_of", 2, by_descriptor_of_group},
      {"kill_own_group", 1, to_own_group},
      {"kill_group_of", 2, to_group_of},
  };
  return list;
}

}  // namespace attacks
