// Runs `aasm ...` and kills one process of it at a stated system call, before the call is made: the
// n-th that this process makes, all its threads counted together. What a killed process leaves on
// disk and among its relatives changes by system calls only (and by stores to shared memory
// between them), so that walking n from 1 to the end visits every step.
//
//   crash_step --report FILE --victim main|warden|launch [--helper N] [--at N | --list]
//   [--only CALL]... -- COMMAND...
//
//   --victim main      the command itself: the supervisor of a run
//   --victim warden    the N-th helper that the command starts (1), from its birth on
//   --victim launch    that helper's child, until it executes the program. The supervisor's own
//                      ptrace(2) fails meanwhile: a process has one tracer
//
//   --only CALL        counts these calls alone, by number: how many others there are, which
//                      differs from run to run with how often threads wait, does not matter
//
// The report is one line of words `key=value`: hit, calls (made or begun by the victim), call (the
// number of the system call at the kill), status (of the command, 128+n for signal n), gone_ms
// (from the kill until nobody of the tree was left), left (how many were, when the time was over).
// With
// --list a second line holds the numbers of the victim's calls.
//
// This process is a subreaper: whoever of the tree outlives its parents becomes its child, and the
// tree is gone when there is no child left (prctl(2), PR_SET_CHILD_SUBREAPER).
#include <fcntl.h>
#include <linux/ptrace.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

// glibc's header and the kernel's cannot both be included.
extern "C" long ptrace(int request, ...) noexcept;

#if !defined(__x86_64__)
#error "written for x86_64: it writes the registers of a call that is not to be made"
#endif

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannot = 99;      // this program's own failure
constexpr unsigned kLimit = 60;  // seconds until whoever is left counts as left
constexpr unsigned kSyscallTrap = SIGTRAP | 0x80;

enum class Role { kUnknown, kMain, kWarden, kLaunch, kOther };

struct Task {
  Role role = Role::kUnknown;
  bool waits = false;    // in its first stop
  bool adopted = false;  // after it
  bool counted = false;  // main: from its exec on
};

struct Options {
  Role victim = Role::kMain;
  int helper = 1;
  long at = 0;
  bool list = false;
  std::set<unsigned long long> only;
  std::string report;
};

struct Seen {
  bool hit = false;
  long calls = 0;
  unsigned long long call = 0;
  int status = -1;
  Clock::time_point killed;
  std::vector<unsigned long long> list;
};

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "crash_step: %s: %s\n", what, std::strerror(errno));
  std::exit(kCannot);
}

long request(int what, pid_t pid, long data = 0) {
  return ptrace(what, pid, nullptr, data);
}

class Tracer {
 public:
  Tracer(const Options& options, pid_t command) : options_(options), main_(command) {
    tasks_[command] = {Role::kMain, false, true, false};
    processes_[Role::kMain] = command;
  }

  // Until no descendant is left, or the time is over.
  Seen run() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, __WALL);
      if (pid < 0) {
        return seen_;  // ECHILD, or EINTR when the time is over
      }
      if (WIFSTOPPED(status)) {
        stopped(pid, status);
        continue;
      }
      if (pid == main_) {
        seen_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (!seen_.hit || options_.victim != Role::kMain) {
          seen_.killed = Clock::now();  // the tree is to be gone when the supervisor has ended
        }
      }
      tasks_.erase(pid);
    }
  }

  static long options_for(Role role, Role victim) {
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (role == Role::kMain) {
      options |= PTRACE_O_TRACECLONE | (victim != Role::kMain ? PTRACE_O_TRACEVFORK : 0);
    } else if (role == Role::kWarden && victim == Role::kLaunch) {
      options |= PTRACE_O_TRACEFORK;
    }
    return options;
  }

 private:
  void resume(pid_t pid, long signal = 0) {
    const Role role = tasks_[pid].role;
    const bool watched =
        role == options_.victim || (role == Role::kMain && options_.victim == Role::kLaunch);
    request(watched ? PTRACE_SYSCALL : PTRACE_CONT, pid, signal);
  }

  void stopped(pid_t pid, int status) {
    const unsigned event = static_cast<unsigned>(status) >> 16U;
    const auto signal = static_cast<unsigned>(WSTOPSIG(status));
    Task& task = tasks_[pid];
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
      request(PTRACE_LISTEN, pid);
    } else if (event == PTRACE_EVENT_STOP && !task.adopted) {
      task.waits = true;
      if (task.role != Role::kUnknown) {  // else its parent's stop says whose child it is
        adopt(pid, task);
      }
    } else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
               event == PTRACE_EVENT_VFORK) {
      born(pid, event);
      resume(pid);
    } else if (event == PTRACE_EVENT_EXEC) {
      task.counted = true;
      task.role == Role::kLaunch ? request(PTRACE_DETACH, pid) : (resume(pid), 0L);
    } else if (signal == kSyscallTrap) {
      called(pid, task);
    } else {
      resume(pid, event == 0 ? static_cast<long>(signal) : 0L);
    }
  }

  void born(pid_t parent, unsigned event) {
    unsigned long message = 0;
    ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &message);
    const auto pid = static_cast<pid_t>(message);
    const Role role = tasks_[parent].role;
    Role child = role;  // a thread
    if (event != PTRACE_EVENT_CLONE) {
      child = role == Role::kMain ? (++helpers_ == options_.helper ? Role::kWarden : Role::kOther)
              : role == Role::kWarden ? Role::kLaunch
                                      : Role::kOther;
      processes_[child] = pid;
    }
    Task& task = tasks_[pid];
    task.role = child;
    task.counted = event == PTRACE_EVENT_CLONE ? tasks_[parent].counted : true;
    if (task.waits) {
      adopt(pid, task);
    }
  }

  // The first stop of a new task.
  void adopt(pid_t pid, Task& task) {
    task.waits = false;
    task.adopted = true;
    if (task.role == Role::kOther) {
      request(PTRACE_DETACH, pid);
      return;
    }
    request(PTRACE_SETOPTIONS, pid, options_for(task.role, options_.victim));
    resume(pid);
  }

  void called(pid_t pid, const Task& task) {
    ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 &&
        info.op == PTRACE_SYSCALL_INFO_ENTRY) {
      if (task.role == options_.victim && task.counted && !seen_.hit) {
        count(info.entry.nr);
      } else if (task.role == Role::kMain && info.entry.nr == SYS_ptrace) {
        user_regs_struct regs{};
        ptrace(PTRACE_GETREGS, pid, nullptr, &regs);
        regs.orig_rax = ~0ULL;  // no call is made: ENOSYS
        ptrace(PTRACE_SETREGS, pid, nullptr, &regs);
      }
    }
    resume(pid);
  }

  void count(unsigned long long call) {
    if (!options_.only.empty() && options_.only.count(call) == 0) {
      return;
    }
    ++seen_.calls;
    if (options_.list) {
      seen_.list.push_back(call);
    }
    if (seen_.calls == options_.at) {
      seen_.hit = true;
      seen_.call = call;
      seen_.killed = Clock::now();
      ::kill(processes_[options_.victim], SIGKILL);
    }
  }

  const Options& options_;
  pid_t main_;
  int helpers_ = 0;
  Seen seen_;
  std::map<pid_t, Task> tasks_;
  std::map<Role, pid_t> processes_;
};

Options parse(int argc, char** argv, int& at) {
  Options options;
  for (at = 1; at < argc && std::strcmp(argv[at], "--") != 0; ++at) {
    const std::string word = argv[at];
    const std::string value = at + 1 < argc ? argv[at + 1] : "";
    if (word == "--list") {
      options.list = true;
      continue;
    }
    ++at;
    if (word == "--report") {
      options.report = value;
    } else if (word == "--victim" && (value == "main" || value == "warden" || value == "launch")) {
      options.victim = value == "main"     ? Role::kMain
                       : value == "warden" ? Role::kWarden
                                           : Role::kLaunch;
    } else if (word == "--helper") {
      options.helper = std::atoi(value.c_str());
    } else if (word == "--at") {
      options.at = std::atol(value.c_str());
    } else if (word == "--only") {
      options.only.insert(std::strtoull(value.c_str(), nullptr, 10));
    } else {
      die("an unknown option");
    }
  }
  if (at + 1 >= argc || options.report.empty()) {
    die("no command, or no --report");
  }
  return options;
}

// The pids of whoever is left, who are killed then.
int kill_the_rest() {
  int left = 0;
  std::ifstream list("/proc/thread-self/children");
  for (pid_t pid = 0; list >> pid; ++left) {
    ::kill(pid, SIGKILL);
  }
  return left;
}

void write_report(const Options& options, const Seen& seen) {
  const auto gone = Clock::now() - seen.killed;
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(gone).count();
  std::ofstream out(options.report);
  out << "hit=" << seen.hit << " calls=" << seen.calls << " call=" << seen.call
      << " status=" << seen.status << " gone_ms=" << ms << " left=" << kill_the_rest() << "\n";
  for (const unsigned long long call : seen.list) {
    out << call << " ";
  }
  out << "\n";
}

void stop_waiting_in(unsigned seconds) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);  // without SA_RESTART: waitpid(2) returns
  ::alarm(seconds);
}

}  // namespace

int main(int argc, char** argv) {
  int at = 0;
  const Options options = parse(argc, argv, at);
  std::array<int, 2> ready{};
  if (::pipe2(ready.data(), O_CLOEXEC) != 0 || ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    die("preparing");
  }
  const pid_t command = ::fork();
  if (command == 0) {
    char go = 0;
    ::close(ready[1]);
    if (::read(ready[0], &go, 1) == 1) {
      ::execvp(argv[at + 1], argv + at + 1);
    }
    die(argv[at + 1]);
  }
  ::close(ready[0]);
  if (command < 0 ||
      request(PTRACE_SEIZE, command, Tracer::options_for(Role::kMain, options.victim)) != 0 ||
      ::write(ready[1], "g", 1) != 1) {
    die("tracing the command");
  }
  ::close(ready[1]);
  stop_waiting_in(kLimit);
  write_report(options, Tracer(options, command).run());
  return 0;
}
