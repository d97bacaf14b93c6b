#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "channel_worker.h"

// The part of the channel's thread that has to do with the broker.
namespace aasm::backend_native {

using schema::ReplyState;
using schema::Result;
using Clock = Coalescer::Clock;

// Until the open batch is due, rounded up, or callers are to be looked at; -1 without either.
int ChannelWorker::poll_timeout() const {
  constexpr auto kLook = static_cast<int>(BrokerCalls::kLookEvery.count());
  const bool waiting = broker_calls_ && broker_calls_->waiting();
  const auto due = coalescer_.deadline();
  if (!due) {
    return waiting ? kLook : -1;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
  const int until = left > 0 ? static_cast<int>(left) : 0;
  return waiting ? std::min(until, kLook) : until;
}

Result<void> ChannelWorker::serve_on_socket(const seccomp_notif& call, Caller caller) {
  if (!broker_calls_) {
    AASM_TRY(listener_.refuse(call.id, EPERM));  // the end has begun
    return {};
  }
  broker_calls_->begin(call, std::move(caller));
  return answer_finished();
}

Result<void> ChannelWorker::serve_broker(short revents) {
  if (revents != 0) {
    const Result<void> received = broker_calls_->receive();
    AASM_TRY(answer_finished());
    if (!received) {
      const std::lock_guard lock(state_.mutex);
      if (!state_.ending) {
        return received.error();
      }
      broker_calls_.reset();
      return {};
    }
  }
  if (broker_calls_->waiting()) {
    broker_calls_->cancel_interrupted(Clock::now());
  }
  return {};
}

Result<void> ChannelWorker::answer_finished() {
  for (FinishedCall& call : broker_calls_->take_finished()) {
    AASM_TRY(answer_finished_call(std::move(call)));
  }
  return {};
}

Result<void> ChannelWorker::answer_finished_call(FinishedCall call) {
  const auto now = Clock::now();
  coalescer_.flush_if_due(now);
  const bool blocked = listener_.still_blocked(call.notification);
  for (schema::Event& event : call.events) {
    complete(call.caller, call.tid, blocked, &event);
  }
  if (blocked && call.signal != 0) {
    ::syscall(SYS_tgkill, call.caller.pid, call.tid, call.signal);
  }
  const bool reached = call.os_errno != 0
                           ? AASM_TRY(listener_.refuse(call.notification, call.os_errno))
                           : AASM_TRY(listener_.answer_value(call.notification, call.value));
  for (schema::Event& event : call.events) {
    event.reply = reached ? ReplyState::kAccepted : ReplyState::kCallerGone;
    record(std::move(event), now);
  }
  return {};
}

// A canary tries what the policy denies: it is over as soon as the broker has looked at it, if that
// is needed at all.
Result<ReplyState> ChannelWorker::refuse_canary_on_socket(const seccomp_notif& call,
                                                          std::int64_t* os_errno) {
  constexpr int kPatience = 2000;  // milliseconds: thousands of times what it takes
  *os_errno = kNoRefusal;
  if (broker_calls_) {
    broker_calls_->begin(call, {});
    std::vector<FinishedCall> finished = broker_calls_->take_finished();
    pollfd broker = {broker_calls_->fd(), POLLIN, 0};
    if (finished.empty() && ::poll(&broker, 1, kPatience) > 0) {
      AASM_TRY(broker_calls_->receive());
      finished = broker_calls_->take_finished();
    }
    if (finished.empty()) {
      broker_calls_->forget(call.id);
    } else if (finished.front().os_errno != 0 && !finished.front().events.empty()) {
      *os_errno = finished.front().os_errno;
    }
  }
  const bool reached = AASM_TRY(listener_.refuse(call.id, *os_errno));
  return reached ? ReplyState::kAccepted : ReplyState::kCallerGone;
}

}  // namespace aasm::backend_native
