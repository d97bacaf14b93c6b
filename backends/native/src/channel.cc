#include "channel.h"

#include <utility>

#include "channel_worker.h"

namespace aasm::backend_native {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Channel::Channel(std::unique_ptr<ChannelWorker> worker) : worker_(std::move(worker)) {}
Channel::~Channel() = default;

Result<std::unique_ptr<Channel>> Channel::open(ChannelSetup setup) {
  auto worker = AASM_TRY(ChannelWorker::start(std::move(setup)));
  return std::unique_ptr<Channel>(new Channel(std::move(worker)));
}

Result<std::vector<CanaryReport>> Channel::await_canaries(std::chrono::milliseconds timeout) {
  ChannelState& state = worker_->state();
  std::unique_lock lock(state.mutex);
  state.changed.wait_for(lock, timeout,
                         [&state] { return state.withheld || state.failure || state.ended; });
  if (state.failure) {
    return Error(ErrorCode::kIntegrity, state.failure->step + ": " + state.failure->detail,
                 state.failure->os_errno);
  }
  if (!state.withheld) {
    return Error(ErrorCode::kUnavailable, state.ended ? "the launch child ended before its canaries"
                                                      : "the canaries did not end in time");
  }
  return state.reports;
}

Result<void> Channel::release_go(planner::ActivityEmitter emit) {
  ChannelState& state = worker_->state();
  const std::lock_guard lock(state.mutex);
  if (!state.withheld || state.failure || state.ended || state.phase != Phase::kCanary) {
    return Error(ErrorCode::kUnavailable, "no launch child is waiting for the program");
  }
  state.emit = std::move(emit);
  state.phase = Phase::kHandover;
  if (!AASM_TRY(worker_->answer_withheld(*state.withheld))) {
    return Error(ErrorCode::kUnavailable, "the launch child ended before the program");
  }
  state.withheld.reset();
  return {};
}

int Channel::ended_fd() const {
  return worker_->ended_fd();
}

bool Channel::ended() const {
  const std::lock_guard lock(worker_->state().mutex);
  return worker_->state().ended;
}

void Channel::flush(std::chrono::milliseconds patience) {
  ChannelState& state = worker_->state();
  std::unique_lock lock(state.mutex);
  state.flush_wanted = true;
  worker_->wake();
  state.changed.wait_for(lock, patience, [&state] { return !state.flush_wanted || state.ended; });
}

void Channel::expect_end() {
  const std::lock_guard lock(worker_->state().mutex);
  worker_->state().ending = true;
}

std::optional<planner::LaunchFailure> Channel::failure() const {
  const std::lock_guard lock(worker_->state().mutex);
  return worker_->state().failure;
}

bool Channel::killed_program() const {
  const std::lock_guard lock(worker_->state().mutex);
  return worker_->state().killed_program;
}

schema::ChannelTotals Channel::finish(std::chrono::milliseconds grace) {
  ChannelState& state = worker_->state();
  {
    std::unique_lock lock(state.mutex);
    state.changed.wait_for(lock, grace, [&state] { return state.ended; });
  }
  worker_->stop();
  return totals();
}

schema::ChannelTotals Channel::totals() const {
  const std::lock_guard lock(worker_->state().mutex);
  return worker_->state().totals;
}

}  // namespace aasm::backend_native
