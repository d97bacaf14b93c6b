#include "unconfined.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "aasm/process/descendants.h"
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

// Longer than killing and reaping a tree takes on a busy machine.
constexpr std::chrono::seconds kTreeGone{30};

// SIGCHLD, which tells of stops, on a descriptor; blocked in this thread while the object lives.
class ChildSignal {
 public:
  static Result<ChildSignal> create() {
    sigset_t set{};
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    ChildSignal self;
    pthread_sigmask(SIG_BLOCK, &set, &self.before_);
    self.fd_ = process::Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!self.fd_) {
      return process::system_error("signalfd", errno);
    }
    return self;
  }
  ChildSignal(ChildSignal&&) noexcept = default;
  ChildSignal& operator=(ChildSignal&&) = delete;
  ChildSignal(const ChildSignal&) = delete;
  ChildSignal& operator=(const ChildSignal&) = delete;
  ~ChildSignal() {
    if (fd_) {
      pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
  }
  int fd() const { return fd_.get(); }
  void drain() const {
    signalfd_siginfo info{};
    while (read(fd_.get(), &info, sizeof info) > 0) {
    }
  }

 private:
  ChildSignal() = default;
  process::Fd fd_;
  sigset_t before_{};
};

// Readable when one of the two is.
Result<process::Fd> watch_both(int first, int second) {
  process::Fd both(epoll_create1(EPOLL_CLOEXEC));
  for (const int fd : {first, second}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (!both || epoll_ctl(both.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      return process::system_error("watching the program", errno);
    }
  }
  return both;
}

class UnconfinedRun final : public planner::RunningExecution {
 public:
  UnconfinedRun(pid_t pid, process::Fd pidfd, ChildSignal child_signal, process::Fd changed)
      : pid_(pid),
        pidfd_(std::move(pidfd)),
        child_signal_(std::move(child_signal)),
        changed_(std::move(changed)) {
    started_.pid = pid;
    started_.exe_not_read_reason = "isolation none: the start is not watched";
  }
  UnconfinedRun(const UnconfinedRun&) = delete;
  UnconfinedRun& operator=(const UnconfinedRun&) = delete;
  ~UnconfinedRun() override {
    if (!finished_) {
      terminate(schema::ExitCause::kEvidenceFailure);
      [[maybe_unused]] const auto ended = finish();
    }
  }

  const schema::ProcessStarted& started() const override { return started_; }
  int exit_fd() const override { return changed_.get(); }
  planner::ProgramState take_state() override {
    child_signal_.drain();
    siginfo_t info{};
    const int wanted = WSTOPPED | WNOHANG;
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, wanted) == 0 && info.si_pid == pid_) {
      return {false, info.si_status};
    }
    const auto ended = process::wait_ended(pidfd_.borrow(), std::chrono::milliseconds(0));
    return {!ended || *ended, 0};
  }
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
    exited.descendants_killed =
        static_cast<std::int64_t>(AASM_TRY(process::kill_descendants({}, kTreeGone)));
    return exited;
  }

 private:
  pid_t pid_;
  process::Fd pidfd_;
  ChildSignal child_signal_;
  process::Fd changed_;  // epoll over both
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
        environment_(request.environment) {
    sigemptyset(&mask_);
    for (int signal = 1; signal <= 64; ++signal) {
      if (((request.signal_mask >> (signal - 1)) & 1U) != 0) {
        sigaddset(&mask_, signal);
      }
    }
  }

  const planner::PreparationReport& report() const override { return report_; }

  Result<planner::StartOutcome> start(planner::ActivityEmitter /*emit*/) override {
    ChildSignal child_signal = AASM_TRY(ChildSignal::create());
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &mask_);
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
    process::Fd changed = AASM_TRY(watch_both(pidfd.get(), child_signal.fd()));
    outcome.running = std::make_unique<UnconfinedRun>(pid, std::move(pidfd),
                                                      std::move(child_signal), std::move(changed));
    return outcome;
  }

 private:
  std::string program_;
  std::string directory_;
  std::vector<std::string> argv_;
  std::vector<std::string> environment_;
  sigset_t mask_{};  // what the program has blocked
  planner::PreparationReport report_;
};

}  // namespace

Result<std::unique_ptr<planner::PreparedExecution>> prepare_unconfined(
    const planner::LaunchRequest& request) {
  AASM_TRY(process::become_subreaper());
  return std::unique_ptr<planner::PreparedExecution>(std::make_unique<UnconfinedLaunch>(request));
}

}  // namespace aasm::launcher
