// System calls that the boundary closes, each in a form that does no harm where it goes through.

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

int make_map(const Args&) {
  bpf_attr attr{};
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = 4;
  attr.value_size = 4;
  attr.max_entries = 1;
  return result_of(::syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr));
}

int watch_events(const Args&) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.size = sizeof attr;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  return result_of(::syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
}

int make_ring(const Args&) {
  io_uring_params params{};
  return result_of(::syscall(SYS_io_uring_setup, 4, &params));
}

int add_key(const Args&) {
  constexpr int kProcessKeyring = -2;
  return result_of(::syscall(SYS_add_key, "user", "aasm-attack", "taken", 5, kProcessKeyring));
}

int find_keyring(const Args&) {
  constexpr int kSessionKeyring = -3;
  return result_of(::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, kSessionKeyring, 1));
}

int call_many(const Args& args) {
  int result = 0;
  for (int i = 0; i < number(args[0]); ++i) {
    result = result_of(::syscall(SYS_unshare, 0));
  }
  return result;
}

// MANY: that many processes, one after another, each of which makes one forbidden call.
int call_from_many_processes(const Args& args) {
  int result = 0;
  for (int i = 0; i < number(args[0]); ++i) {
    const int pid = ::fork();
    if (pid == 0) {
      ::_exit(::syscall(SYS_unshare, 0) == 0 ? 0 : errno);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    result = WEXITSTATUS(status);
  }
  return result;
}

// DEPTH: a chain of that many processes; the last one makes the call, and `attempt` names it.
int call_from_deep_chain(const Args& args) {
  for (int i = 0; i < number(args[0]); ++i) {
    const int pid = ::fork();
    if (pid != 0) {
      int status = 0;
      ::waitpid(pid, &status, 0);
      ::_exit(WEXITSTATUS(status));
    }
  }
  return result_of(::syscall(SYS_unshare, 0));
}

void* call_in_thread(void* result) {
  *static_cast<int*>(result) = result_of(::syscall(SYS_unshare, 0));
  return nullptr;
}

int call_from_thread(const Args&) {
  pthread_t thread{};
  int result = -1;
  if (::pthread_create(&thread, nullptr, call_in_thread, &result) != 0) {
    return ENOSYS;
  }
  ::pthread_join(thread, nullptr);
  return result;
}

// While its parent is stopped in vfork.
int call_from_vfork(const Args&) {
  const int pid = ::vfork();
  if (pid == 0) {
    ::_exit(::syscall(SYS_unshare, 0) == 0 ? 0 : errno);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

#if defined(__x86_64__)
// NUMBER, in the 32-bit numbering.
int call_i386(const Args& args) {
  long result = number(args[0]);
  asm volatile("int $0x80"
               : "+a"(result)
               : "b"(0), "c"(0), "d"(0)
               : "memory", "r8", "r9", "r10", "r11");
  return result < 0 ? static_cast<int>(-result) : 0;
}
#else
int call_i386(const Args&) {
  return ENOSYS;
}
#endif

int call_x32(const Args& args) {
  return result_of(::syscall(0x40000000L | number(args[0])));
}

int trace_me(const Args&) {
  return in_child([] { return result_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); });
}

int ask_landlock(const Args&) {
  return result_of(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
}

// A domain of our own that handles what the boundary handles would take the word from its denials.
int nest_landlock(const Args&) {
  landlock_ruleset_attr attr{};
  attr.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE;
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const long ruleset = ::syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
  return ruleset < 0 ? errno : result_of(::syscall(SYS_landlock_restrict_self, ruleset, 0));
}

int fault_memory(const Args&) {
  return result_of(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
}

int set_memory_map(const Args&) {
  unsigned size = 0;
  return result_of(::prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0));
}

// 0 when the caller became one that nobody may look at.
int hide(const Args&) {
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) {
    return errno;
  }
  return ::prctl(PR_GET_DUMPABLE) == 0 ? 0 : EPERM;
}

int read_clock_settings(const Args&) {
  timex state{};
  return result_of(::adjtimex(&state));
}

int read_kernel_log(const Args&) {
  constexpr int kSizeOfBuffer = 10;
  return result_of(::syscall(SYS_syslog, kSizeOfBuffer, nullptr, 0));
}

int set_host_name(const Args&) {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) != 0
             ? errno
             : result_of(::sethostname(name, std::strlen(name)));
}

int call_with_wild_pointers(const Args&) {
  return result_of(::syscall(SYS_process_vm_readv, 0x7FFFFFFF, -1L, 1L << 40, -1L, -1L, -1L));
}

}  // namespace

const Attempts& call_attempts() {
  static const Attempts list = {
      {"bpf", 0, make_map},
      {"perf_event_open", 0, watch_events},
      {"io_uring_setup", 0, make_ring},
      {"add_key", 0, add_key},
      {"keyctl", 0, find_keyring},
      {"unshare_nothing", 0, [](const Args&) { return result_of(::syscall(SYS_unshare, 0)); }},
      {"call_many", 1, call_many},
      {"call_from_many_processes", 1, call_from_many_processes},
      {"call_from_deep_chain", 1, call_from_deep_chain},
      {"call_from_thread", 0, call_from_thread},
      {"call_from_vfork", 0, call_from_vfork},
      {"call_i386", 1, call_i386},
      {"call_x32", 1, call_x32},
      {"trace_me", 0, trace_me},
      {"ask_landlock", 0, ask_landlock},
      {"nest_landlock", 0, nest_landlock},
      {"userfaultfd", 0, fault_memory},
      {"set_memory_map", 0, set_memory_map},
      {"hide", 0, hide},
      {"read_clock_settings", 0, read_clock_settings},
      {"read_kernel_log", 0, read_kernel_log},
      {"set_host_name", 0, set_host_name},
      {"iopl", 0, [](const Args&) { return result_of(::syscall(SYS_iopl, 0)); }},
      {"call_with_wild_pointers", 0, call_with_wild_pointers},
  };
  return list;
}

}  // namespace attacks
