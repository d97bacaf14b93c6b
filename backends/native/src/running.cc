#include "running.h"

#include <sys/wait.h>

#include <chrono>
#include <csignal>

#include "aasm/process/pidfd.h"

namespace aasm::backend_native {
namespace {

using schema::ExitCause;
using schema::ProcessExited;
using schema::Result;
using std::chrono::milliseconds;

constexpr milliseconds kTreePatience(10000);
constexpr milliseconds kChannelPatience(2000);

}  // namespace

void EmitGate::emit(schema::RecordBody body) {
  const std::lock_guard lock(mutex_);
  if (open_) {
    emit_(std::move(body));
  } else {
    held_.push_back(std::move(body));
  }
}

void EmitGate::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  for (schema::RecordBody& body : held_) {
    emit_(std::move(body));
  }
  held_.clear();
}

NativeRunning::NativeRunning(Parts parts)
    : started_(std::move(parts.started)),
      started_at_(std::chrono::steady_clock::now()),
      memory_(std::move(parts.memory)),
      channel_(std::move(parts.channel)),
      helper_(std::move(parts.helper)),
      gate_(std::move(parts.gate)),
      witness_(std::move(parts.witness)),
      watch_(std::move(parts.watch)) {}

int NativeRunning::exit_fd() const {
  gate_->open();
  return watch_.ended.get();
}

planner::ProgramState NativeRunning::take_state() {
  const ChildState child = helper_.take_state();
  planner::ProgramState state{child.ended, child.stop_signal};
  state.ended = state.ended || forced_cause_ || channel_->ended();
  if (!state.ended && state.stop_signal != 0) {
    channel_->flush(kChannelPatience);
  }
  return state;
}

Result<void> NativeRunning::send_signal(int signal) {
  return process::send_signal(helper_.child_pidfd(), signal);
}

void NativeRunning::terminate(ExitCause cause) {
  if (!forced_cause_) {
    forced_cause_ = cause;
  }
  kill_tree();
  watch_.terminate();
}

void NativeRunning::kill_tree() {
  channel_->expect_end();
  const Result<std::uint32_t> killed = helper_.kill_tree(kTreePatience);
  if (killed) {
    descendants_killed_ += *killed;
  } else {
    tree_error_ = killed.error();
  }
}

Result<ProcessExited> NativeRunning::finish() {
  gate_->open();
  Result<std::optional<ChildExit>> exit = helper_.wait_exit(milliseconds(0));
  kill_tree();
  if (exit && !*exit) {
    exit = helper_.wait_exit(milliseconds(0));  // it ended by the kill
  }
  channel_->finish(kChannelPatience);
  if (witness_) {
    gate_->emit(witness_->finish());
  }
  if (tree_error_) {
    return *tree_error_;
  }
  helper_.dismiss_warden();
  if (!exit) {
    warden_error_ = exit.error();
    forced_cause_ = ExitCause::kEvidenceFailure;
    return end_of(std::nullopt);
  }
  return end_of(*exit);
}

schema::Error NativeRunning::fault() const {
  if (const std::optional<planner::LaunchFailure> failure = channel_->failure();
      failure && !warden_error_) {
    return schema::Error(schema::ErrorCode::kUnavailable,
                         "the decision channel failed, " + failure->step + ": " + failure->detail,
                         failure->os_errno);
  }
  return lost_warden(warden_error_);
}

ProcessExited NativeRunning::end_of(const std::optional<ChildExit>& exit) const {
  ProcessExited exited = describe_end(exit, started_at_, descendants_killed_);
  exited.cause = cause_of(exit);
  return exited;
}

ExitCause NativeRunning::cause_of(const std::optional<ChildExit>& exit) const {
  if (forced_cause_) {
    return *forced_cause_;
  }
  if (!exit || channel_->failure()) {
    return ExitCause::kEvidenceFailure;
  }
  if (!WIFSIGNALED(exit->wait_status)) {
    return ExitCause::kExited;
  }
  if (WTERMSIG(exit->wait_status) != SIGKILL) {
    return ExitCause::kSignalled;
  }
  // Known of the program itself, where the group tells of some process of the tree.
  if (channel_->killed_program()) {
    return ExitCause::kKilledByDenial;
  }
  return memory_ && memory_.has_killed() ? ExitCause::kMemoryLimit : ExitCause::kSignalled;
}

}  // namespace aasm::backend_native
