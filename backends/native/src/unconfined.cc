#include "aasm/backends/unconfined.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include "aasm/process/pidfd.h"
#include "aasm/process/proc_status.h"

#include "helper_client.h"
#include "program_end.h"

namespace aasm::backend_native {
namespace {

using planner::LaunchFailure;
using schema::Error;
using schema::ExitCause;
using schema::ProcessExited;
using schema::Result;
using std::chrono::milliseconds;

// Each is thousands of times what the step takes; they only end what hangs.
constexpr milliseconds kStartPatience(5000);
constexpr milliseconds kExecPatience(30000);
constexpr milliseconds kTreePatience(30000);

// The descriptors that an exec of this process would leave open.
Result<std::vector<int>> inheritable_descriptors() {
  struct CloseDir {
    void operator()(DIR* directory) const { closedir(directory); }
  };
  const std::unique_ptr<DIR, CloseDir> list(opendir("/proc/self/fd"));
  if (!list) {
    return process::system_error("listing our descriptors", errno);
  }
  std::vector<int> found;
  while (const dirent* entry = readdir(list.get())) {
    int fd = -1;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, fd).ptr == end && fd >= 0 &&
        (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0) {
      found.push_back(fd);
    }
  }
  return found;
}

class UnconfinedRun final : public planner::RunningExecution {
 public:
  UnconfinedRun(HelperClient helper, EndWatch watch)
      : helper_(std::move(helper)), watch_(std::move(watch)) {
    started_.pid = helper_.child_pid();
    started_.exe_not_read_reason = "isolation none: the start is not watched";
  }

  const schema::ProcessStarted& started() const override { return started_; }
  int exit_fd() const override { return watch_.ended.get(); }
  planner::ProgramState take_state() override {
    const ChildState child = helper_.take_state();
    return {child.ended || forced_cause_, child.stop_signal};
  }
  Result<void> send_signal(int signal) override {
    return process::send_signal(helper_.child_pidfd(), signal);
  }
  void terminate(ExitCause cause) override {
    forced_cause_ = forced_cause_.value_or(cause);
    kill_tree();
    watch_.terminate();
  }
  schema::ChannelTotals channel() const override { return {}; }
  Error fault() const override { return lost_warden(warden_error_); }

  Result<ProcessExited> finish() override {
    Result<std::optional<ChildExit>> exit = helper_.wait_exit(milliseconds(0));
    kill_tree();
    if (exit && !*exit) {
      exit = helper_.wait_exit(milliseconds(0));  // it ended by the kill
    }
    if (tree_error_) {
      return *tree_error_;
    }
    if (!exit) {
      warden_error_ = exit.error();
    }
    const std::optional<ChildExit> known = exit ? *exit : std::nullopt;
    ProcessExited exited = describe_end(known, started_at_, descendants_killed_);
    exited.cause = forced_cause_.value_or(!known          ? ExitCause::kEvidenceFailure
                                          : exited.signal ? ExitCause::kSignalled
                                                          : ExitCause::kExited);
    return exited;
  }

 private:
  void kill_tree() {
    const Result<std::uint32_t> killed = helper_.kill_tree(kTreePatience);
    if (killed) {
      descendants_killed_ += *killed;
    } else {
      tree_error_ = killed.error();
    }
  }

  schema::ProcessStarted started_;
  std::chrono::steady_clock::time_point started_at_ = std::chrono::steady_clock::now();
  HelperClient helper_;
  EndWatch watch_;
  std::optional<ExitCause> forced_cause_;
  std::int64_t descendants_killed_ = 0;
  std::optional<Error> tree_error_;
  std::optional<Error> warden_error_;
};

LaunchFailure exec_failure(const std::string& detail, int os_errno) {
  return {schema::RunEnding::kExecFailed, "exec", detail, os_errno};
}

// The warden was gone or silent before it had named its child, which waits for nobody here: the
// program may have been executed, and is ended with what the supervisor has become the parent of.
LaunchFailure start_failure(const Error& error) {
  LaunchFailure failure = exec_failure(error.message(), error.os_errno());
  if (error.code() == schema::ErrorCode::kUnavailable) {
    failure.ending = schema::RunEnding::kEvidenceFailure;
  }
  return failure;
}

class UnconfinedLaunch final : public planner::PreparedExecution {
 public:
  explicit UnconfinedLaunch(planner::LaunchRequest request, process::Fd helper)
      : request_(std::move(request)), helper_(std::move(helper)) {}

  const planner::PreparationReport& report() const override { return report_; }

  Result<planner::StartOutcome> start(planner::ActivityEmitter /*emit*/) override {
    planner::StartOutcome outcome;
    HelperSpec spec;
    spec.helper = helper_.borrow();
    spec.frame = frame();
    spec.passed_unlisted = AASM_TRY(inheritable_descriptors());
    EndWatch watch = AASM_TRY(EndWatch::open());
    Result<HelperClient> client = HelperClient::spawn(spec, kStartPatience);
    if (!client) {
      outcome.failure = start_failure(client.error());
      return outcome;
    }
    outcome.failure = await_exec(*client);
    if (outcome.failure) {
      return outcome;
    }
    if (const Result<void> added = watch.add(client->exit_fd().get()); !added) {
      outcome.failure = exec_failure(added.error().message(), added.error().os_errno());
      outcome.failure->ending = schema::RunEnding::kEvidenceFailure;  // it has begun
      return outcome;
    }
    outcome.running = std::make_unique<UnconfinedRun>(std::move(*client), std::move(watch));
    return outcome;
  }

 private:
  FrameSpec frame() const {
    FrameSpec frame;
    frame.role = wire::Role::kUnconfined;
    frame.argv = request_.argv;
    frame.environment = request_.environment;
    frame.exec_path = request_.spec.program.bytes();
    frame.signal_mask = request_.signal_mask;
    frame.ignored_signals = inherited_signals().ignored;
    return frame;
  }

  // The end of the report pipe tells that the exec has happened, or that the child is gone; the
  // status page tells which.
  static std::optional<LaunchFailure> await_exec(const HelperClient& client) {
    const Result<bool> closed = process::wait_readable(client.report_pipe(), kExecPatience);
    const HelperResults results = client.results();
    if (!closed || !*closed) {
      return exec_failure("the program was not executed in time", 0);
    }
    if (results.exec_errno != 0 || results.failed_step) {
      return exec_failure("the program could not be executed", results.exec_errno);
    }
    if (!results.came_to(wire::Step::kExec)) {
      return exec_failure("the launch child ended before it executed the program", 0);
    }
    return std::nullopt;
  }

  planner::LaunchRequest request_;
  process::Fd helper_;
  planner::PreparationReport report_;
};

}  // namespace

Result<std::unique_ptr<planner::PreparedExecution>> prepare_unconfined(
    const planner::LaunchRequest& request) {
  process::Fd helper = AASM_TRY_CONTEXT(process::open_file(request.helper_path, O_RDONLY),
                                        "opening the launch helper");
  return std::unique_ptr<planner::PreparedExecution>(
      std::make_unique<UnconfinedLaunch>(request, std::move(helper)));
}

}  // namespace aasm::backend_native
