// Games with the process tree: who is whose child, and who is left when it ends.

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>

#include "probe.h"

namespace attacks {
namespace {

[[noreturn]] void sleep_on(int write_end) {
  ::setsid();
  for (const int fd : {0, 1, 2}) {
    ::close(fd);
  }
  for (int signal = 1; signal < 65; ++signal) {
    ::signal(signal, SIG_IGN);
  }
  const int pid = ::getpid();
  [[maybe_unused]] const ssize_t written = ::write(write_end, &pid, sizeof pid);
  ::close(write_end);
  ::sleep(600);
  ::_exit(0);
}

// MANY: sleepers with sessions of their own, below a process that takes orphans in, which ends.
int leave_behind(const Args& args) {
  for (int i = 0; i < number(args[0]); ++i) {
    int ends[2];
    const int middle = fork_with_pipe(ends);
    if (middle == 0) {
      ::prctl(PR_SET_CHILD_SUBREAPER, 1);
      if (::fork() == 0) {
        sleep_on(ends[1]);
      }
      ::_exit(0);
    }
    const int sleeper = wait_for_result(middle, ends[0], ends[1]);
    std::printf("left %d\n", sleeper);
  }
  return 0;
}

// A process that is not our child but a child of our parent, which may be the warden.
int call_from_sibling(const Args&) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return errno;
  }
  const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    report_and_end(ends[1], result_of(::syscall(SYS_unshare, 0)));
  }
  const int result = pid < 0 ? errno : wait_for_result(static_cast<int>(pid), ends[0], ends[1]);
  return result;
}

// A child whose end is to be told by SIGKILL, and whose parent ends: it is handed to the warden.
int end_with_signal_to_parent(const Args&) {
  int ends[2];
  const int middle = fork_with_pipe(ends);
  if (middle == 0) {
    const int first = ::getpid();
    if (::syscall(SYS_clone, SIGKILL, nullptr, nullptr, nullptr, nullptr) != 0) {
      ::_exit(0);
    }
    while (::getppid() == first) {
      ::usleep(200);
    }
    report_and_end(ends[1], 0);
  }
  const int result = wait_for_result(middle, ends[0], ends[1]);
  ::usleep(100000);
  return result;
}

int leader_gone_pipe;

void* call_without_leader(void*) {
  ::usleep(20000);  // the leader has ended by then
  report_and_end(leader_gone_pipe, result_of(::syscall(SYS_unshare, 0)));
}

// From a thread whose process has lost its first thread: what /proc shows of that is a zombie.
int call_without_leader(const Args&) {
  int ends[2];
  const int pid = fork_with_pipe(ends);
  if (pid == 0) {
    pthread_t thread{};
    leader_gone_pipe = ends[1];
    ::pthread_create(&thread, nullptr, call_without_leader, nullptr);
    ::syscall(SYS_exit, 0);
  }
  return wait_for_result(pid, ends[0], ends[1]);
}

// MANY children, each killed about when its call is being looked at. 0 when one got it through.
int call_and_be_killed(const Args& args) {
  int result = EPERM;
  for (int i = 0; i < number(args[0]); ++i) {
    const int pid = ::fork();
    if (pid == 0) {
      ::_exit(::syscall(SYS_unshare, 0) == 0 ? 0 : 40);
    }
    ::usleep(static_cast<useconds_t>(i % 50) * 40);
    ::kill(pid, SIGKILL);
    int status = 0;
    ::waitpid(pid, &status, 0);
    result = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : result;
  }
  return result;
}

// MANY processes that make the call at the same moment: when a pipe that all of them wait at ends.
int call_at_once(const Args& args) {
  int start[2];
  if (::pipe2(start, O_CLOEXEC) != 0) {
    return errno;
  }
  for (int i = 0; i < number(args[0]); ++i) {
    if (::fork() == 0) {
      char byte = 0;
      ::close(start[1]);
      [[maybe_unused]] const ssize_t ended = ::read(start[0], &byte, 1);
      ::_exit(::syscall(SYS_unshare, 0) == 0 ? 0 : 40);
    }
  }
  ::close(start[1]);
  int result = EPERM;
  int status = 0;
  while (::wait(&status) > 0) {
    result = WIFEXITED(status) && WEXITSTATUS(status) == 40 ? result : 0;
  }
  return result;
}

// The terminal goes to a process group of our own, and background writers shall be stopped.
int take_terminal(const Args&) {
  termios modes{};
  ::signal(SIGTTOU, SIG_IGN);
  if (::tcgetattr(0, &modes) != 0) {
    return errno;
  }
  modes.c_lflag |= TOSTOP;
  if (::tcsetattr(0, TCSANOW, &modes) != 0 || ::setpgid(0, 0) != 0) {
    return errno;
  }
  return result_of(::tcsetpgrp(0, ::getpid()));
}

// Twelve calls that no list of ours holds, each once.
int call_each(const Args&) {
  for (const long call :
       {SYS_ptrace, SYS_kcmp, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,
        SYS_setns, SYS_keyctl, SYS_perf_event_open, SYS_mount, SYS_userfaultfd, SYS_bpf}) {
    ::syscall(call, -1L, 0L, 0L, 0L, 0L, 0L);
  }
  return result_of(::syscall(SYS_unshare, 0));
}

}  // namespace

const Attempts& tree_attempts() {
  static const Attempts list = {
      {"leave_behind", 1, leave_behind},
      {"call_from_sibling", 0, call_from_sibling},
      {"end_with_signal_to_parent", 0, end_with_signal_to_parent},
      {"call_without_leader", 0, call_without_leader},
      {"call_and_be_killed", 1, call_and_be_killed},
      {"call_at_once", 1, call_at_once},
      {"take_terminal", 0, take_terminal},
      {"call_each", 0, call_each},
  };
  return list;
}

}  // namespace attacks
