// Runs a command on a host that lacks something: what this kernel has and an older or more guarded
// one has not is refused before it reaches the kernel, by a seccomp filter, and where an answer has
// to be invented, by a tracer of the command alone (its children are not traced: the command may
// trace them itself). No listener is installed but by --listener, so that the command can have one.
//
//   strange_host [--landlock N] [--no-landlock ERRNO] [--listener] [--refuse
//   CALL:ERRNO[:ARG&MASK]]... -- COMMAND...
//
//   --landlock N       Landlock of ABI N (1 to 7): that version, nothing newer accepted
//   --no-landlock E    the three Landlock calls fail with the number E (ENOSYS, EOPNOTSUPP)
//   --listener         a notifying filter is already there, so that another one is refused (EBUSY)
//   --refuse C:E       the call of number C fails with the number E
//   --refuse C:E:A&M   the same, where argument A has a bit of the 32-bit mask M; `A=V` compares
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#if !defined(__x86_64__)
#error "written for x86_64: the tracer reads and writes its registers"
#endif

namespace {

constexpr std::uint32_t kCreateRuleset = 444;
constexpr std::uint32_t kAddRule = 445;
constexpr std::uint32_t kRestrictSelf = 446;
constexpr std::uint32_t kNeverCalled = 0x3fffffff;
constexpr int kCannot = 99;  // this program's own failure; no command ran

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "strange_host: %s: %s\n", what, std::strerror(errno));
  std::exit(kCannot);
}

std::uint32_t number(const std::string& text) {
  return static_cast<std::uint32_t>(std::strtoul(text.c_str(), nullptr, 0));
}

// A BPF program as it grows; every rule falls through to the next when it does not apply.
class Filter {
 public:
  Filter() { add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)); }

  void answer(std::uint32_t call, std::uint32_t action) {
    jump(BPF_JEQ, call, 0, 1);
    add(BPF_RET | BPF_K, action);
  }
  // `test` is BPF_JSET or BPF_JEQ on the low half of the argument.
  void answer(std::uint32_t call, std::uint32_t action, std::uint32_t argument, std::uint16_t test,
              std::uint32_t value) {
    jump(BPF_JEQ, call, 0, 4);
    add(BPF_LD | BPF_W | BPF_ABS,
        static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * argument);
    jump(test, value, 0, 1);
    add(BPF_RET | BPF_K, action);
    add(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr));
  }
  long install(unsigned flags) {
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const sock_fprog program{static_cast<std::uint16_t>(code_.size()), code_.data()};
    return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  }

 private:
  void add(std::uint32_t code, std::uint32_t k) {
    code_.push_back({static_cast<std::uint16_t>(code), 0, 0, k});
  }
  void jump(std::uint16_t test, std::uint32_t k, std::uint8_t yes, std::uint8_t no) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), yes, no, k});
  }
  std::vector<sock_filter> code_;
};

struct Host {
  Filter filter;
  std::uint32_t landlock = 0;
  bool traced = false;
  bool listener = false;
};

std::uint32_t fail_with(std::uint32_t os_errno) {
  return SECCOMP_RET_ERRNO | (os_errno & SECCOMP_RET_DATA);
}

void refuse(Filter& filter, const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first + 1);
  const std::uint32_t call = number(text.substr(0, first));
  const std::uint32_t action = fail_with(number(text.substr(first + 1)));
  if (second == std::string::npos) {
    filter.answer(call, action);
    return;
  }
  const std::size_t sign = text.find_first_of("&=", second);
  filter.answer(call, action, number(text.substr(second + 1)),
                text.at(sign) == '&' ? BPF_JSET : BPF_JEQ, number(text.substr(sign + 1)));
}

Host parse(int argc, char** argv, int& at) {
  Host host;
  for (at = 1; at < argc && std::strcmp(argv[at], "--") != 0; ++at) {
    const std::string option = argv[at];
    if (option == "--listener") {
      host.listener = true;
    } else if (at + 1 == argc) {
      die("an option without its value");
    } else if (option == "--landlock") {
      host.landlock = number(argv[++at]);
      host.traced = true;
      host.filter.answer(kCreateRuleset, SECCOMP_RET_TRACE);
      if (host.landlock < 7) {  // ABI 7 brought the flags
        host.filter.answer(kRestrictSelf, fail_with(EINVAL), 1, BPF_JSET, ~0U);
      }
    } else if (option == "--no-landlock") {
      const std::uint32_t os_errno = number(argv[++at]);
      for (const std::uint32_t call : {kCreateRuleset, kAddRule, kRestrictSelf}) {
        host.filter.answer(call, fail_with(os_errno));
      }
    } else if (option == "--refuse") {
      refuse(host.filter, argv[++at]);
    } else {
      die("an unknown option");
    }
  }
  if (at + 1 >= argc) {
    die("no command");
  }
  return host;
}

// What landlock_create_ruleset(2) of that ABI says to `args`: a version, -errno, or 1 for "ask the
// kernel". An older kernel knows a shorter structure and refuses one whose rest is not zero.
long older_answer(std::uint32_t abi, pid_t pid, const user_regs_struct& regs) {
  if (regs.rdx == 1) {
    return regs.rdi == 0 && regs.rsi == 0 ? static_cast<long>(abi) : -EINVAL;
  }
  if (regs.rdx != 0) {
    return -EINVAL;
  }
  std::array<std::uint64_t, 3> attr{};
  for (std::size_t i = 0; i < attr.size() && 8 * (i + 1) <= regs.rsi; ++i) {
    errno = 0;
    attr.at(i) = static_cast<std::uint64_t>(
        ::ptrace(PTRACE_PEEKDATA, pid, reinterpret_cast<void*>(regs.rdi + 8 * i), nullptr));
    if (errno != 0) {
      return -EFAULT;
    }
  }
  constexpr std::array<unsigned, 8> kNumRights = {0, 13, 14, 15, 15, 16, 16, 16};
  if ((abi < 4 && attr[1] != 0) || (abi < 6 && attr[2] != 0)) {
    return -E2BIG;
  }
  return (attr[0] >> kNumRights.at(abi)) != 0 ? -EINVAL : 1;
}

void answer_call(const Host& host, pid_t pid) {
  user_regs_struct regs{};
  if (::ptrace(PTRACE_GETREGS, pid, nullptr, &regs) != 0) {
    return;
  }
  const long answer = older_answer(host.landlock, pid, regs);
  const bool version = regs.rdx == 1 && answer > 0;
  if (answer == 1 && !version) {
    return;  // the kernel makes the call
  }
  regs.orig_rax = ~0ULL;  // seccomp(2): no call is made, and the return register is ours
  regs.rax = static_cast<unsigned long long>(answer);
  ::ptrace(PTRACE_SETREGS, pid, nullptr, &regs);
}

// The command's threads are traced, its children are not.
int trace(const Host& host, pid_t command) {
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-1, &status, __WALL);
    if (pid < 0) {
      die("waitpid");
    }
    if (!WIFSTOPPED(status)) {
      if (pid == command) {
        return status;
      }
      continue;
    }
    const int event = status >> 16;
    int signal = 0;
    if (event == PTRACE_EVENT_SECCOMP) {
      answer_call(host, pid);
    } else if (event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP) {
      ::ptrace(PTRACE_LISTEN, pid, nullptr, nullptr);
      continue;
    } else if (event == 0) {
      signal = WSTOPSIG(status);
    }
    ::ptrace(PTRACE_CONT, pid, nullptr, static_cast<long>(signal));
  }
}

[[noreturn]] void execute(Host& host, char** command, int ready) {
  char go = 0;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      (host.traced && ::read(ready, &go, 1) != 1)) {
    die("preparing the command");
  }
  if (host.listener) {
    host.filter.answer(kNeverCalled, SECCOMP_RET_USER_NOTIF);
  }
  // The listener must stay open: a filter whose listener is gone no longer counts.
  const long done = host.filter.install(host.listener ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0);
  if (done < 0 || (host.listener && ::fcntl(static_cast<int>(done), F_SETFD, 0) != 0)) {
    die("installing the filter");
  }
  ::execvp(command[0], command);
  die(command[0]);
}

}  // namespace

int main(int argc, char** argv) {
  int at = 0;
  Host host = parse(argc, argv, at);
  if (!host.traced) {
    execute(host, argv + at + 1, -1);
  }
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) {
    die("pipe");
  }
  const pid_t command = ::fork();
  if (command < 0) {
    die("fork");
  }
  if (command == 0) {
    ::close(ready[1]);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    execute(host, argv + at + 1, ready[0]);
  }
  ::close(ready[0]);
  if (::ptrace(PTRACE_SEIZE, command, nullptr, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE) != 0 ||
      ::write(ready[1], "g", 1) != 1) {
    die("tracing the command");
  }
  ::close(ready[1]);
  const int status = trace(host, command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
