#include "unconfined.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <utility>

#include "aasm/process/fd.h"
#include "aasm/process/pidfd.h"

namespace aasm::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using schema::Result;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    list.push_back(text.data());
  }
  list.push_back(nullptr);
  return list;
}

std::int64_t microseconds(const timeval& time) {
  return std::int64_t{time.tv_sec} * 1000000 + time.tv_usec;
}

// SIGKILL to each present child of this process (proc(5), children: may miss one that is being
// born; the caller comes again until none is left).
void kill_children() {
  const std::string self = std::to_string(getpid());
  std::ifstream list("/proc/" + self + "/task/" + self + "/children");
  for (pid_t child = 0; list >> child;) {
    kill(child, SIGKILL);
  }
}

// Waits for and kills children until there are none: as a subreaper this process inherits every
// orphan of the tree. Returns how many were killed.
std::int64_t kill_rest_of_tree() {
  std::int64_t killed = 0;
  while (true) {
    siginfo_t info{};
    // Everything that is left is a child by now, or becomes one when its parent dies.
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      return killed;  // ECHILD: none left
    }
    if (info.si_pid != 0) {
      killed += info.si_code == CLD_KILLED && info.si_status == SIGKILL ? 1 : 0;
      waitid(P_PID, static_cast<id_t>(info.si_pid), &info, WEXITED);
      continue;
    }
    kill_children();
    waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
  }
}

class UnconfinedRun final : public planner::RunningExecution {
 public:
  UnconfinedRun(pid_t pid, process::Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {
    started_.pid = pid;
    started_.exe_not_read_reason = "isolation none: the start is not watched";
  }
  ~UnconfinedRun() override {
    if (!finished_) {
      terminate(schema::ExitCause::kEvidenceFailure);
      [[maybe_unused]] const auto ended = finish();
    }
  }

  const schema::ProcessStarted& started() const override { return started_; }
  int exit_fd() const override { return pidfd_.get(); }
  Result<void> send_signal(int signal) override {
    return process::send_signal(pidfd_.borrow(), signal);
  }
  void terminate(schema::ExitCause cause) override {
    cause_ = cause;
    kill(pid_, SIGKILL);
  }
  schema::ChannelTotals channel() const override { return {}; }

  Result<schema::ProcessExited> finish() override {
    int status = 0;
    rusage use{};
    while (wait4(pid_, &status, 0, &use) < 0) {
      if (errno != EINTR) {
        return process::system_error("waiting for the program", errno);
      }
    }
    finished_ = true;
    schema::ProcessExited exited;
    const bool signalled = WIFSIGNALED(status);
    if (signalled) {
      exited.signal = WTERMSIG(status);
    } else {
      exited.status = WEXITSTATUS(status);
    }
    exited.cause =
        cause_.value_or(signalled ? schema::ExitCause::kSignalled : schema::ExitCause::kExited);
    exited.use = {
        microseconds(use.ru_utime), microseconds(use.ru_stime), use.ru_maxrss,
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_).count()};
    exited.descendants_killed = kill_rest_of_tree();
    return exited;
  }

 private:
  pid_t pid_;
  process::Fd pidfd_;
  schema::ProcessStarted started_;
  std::optional<schema::ExitCause> cause_;
  bool finished_ = false;
  Clock::time_point begin_ = Clock::now();
};

class UnconfinedLaunch final : public planner::PreparedExecution {
 public:
  explicit UnconfinedLaunch(const planner::LaunchRequest& request)
      : program_(request.spec.program.bytes()),
        directory_(request.spec.working_dir.bytes()),
        argv_(request.argv),
        environment_(request.environment) {}

  const planner::PreparationReport& report() const override { return report_; }

  Result<planner::StartOutcome> start(planner::ActivityEmitter /*emit*/) override {
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t none{};
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int code = posix_spawn_file_actions_addchdir_np(&actions, directory_.c_str());
    pid_t pid = 0;
    if (code == 0) {
      code = posix_spawn(&pid, program_.c_str(), &actions, &attributes, pointers(argv_).data(),
                         pointers(environment_).data());
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    planner::StartOutcome outcome;
    if (code != 0) {
      outcome.failure = planner::LaunchFailure{schema::RunEnding::kExecFailed, "exec",
                                               "the program could not be executed", code};
      return outcome;
    }
    process::Fd pidfd = AASM_TRY(process::pidfd_open(pid));
    outcome.running = std::make_unique<UnconfinedRun>(pid, std::move(pidfd));
    return outcome;
  }

 private:
  std::string program_;
  std::string directory_;
  std::vector<std::string> argv_;
  std::vector<std::string> environment_;
  planner::PreparationReport report_;
};

}  // namespace

Result<std::unique_ptr<planner::PreparedExecution>> prepare_unconfined(
    const planner::LaunchRequest& request) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
    return process::system_error("becoming the reaper of the tree", errno);
  }
  return std::unique_ptr<planner::PreparedExecution>(std::make_unique<UnconfinedLaunch>(request));
}

}  // namespace aasm::launcher
