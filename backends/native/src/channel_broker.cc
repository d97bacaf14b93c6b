#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "channel_worker.h"

// The part of the channel's thread that has to do with the broker.
namespace aasm::backend_native {

using schema::ReplyState;
using schema::Result;
using Clock = Coalescer::Clock;

namespace {

constexpr std::chrono::milliseconds kCanaryPatience{2000};

}  // namespace

// Until the open batch is due, rounded up, or callers are to be looked at; -1 without either.
int ChannelWorker::poll_timeout() const {
  constexpr auto kLook = static_cast<int>(kLookEvery.count());
  const bool looks = broker_has_calls() || (receive_calls_ && receive_calls_->waiting());
  const auto due = coalescer_.deadline();
  if (!due) {
    return looks ? kLook : -1;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*due - Clock::now()).count();
  const int until = left > 0 ? static_cast<int>(left) : 0;
  return looks ? std::min(until, kLook) : until;
}

bool ChannelWorker::broker_has_calls() const {
  return (broker_calls_ && broker_calls_->waiting()) || (file_calls_ && file_calls_->waiting());
}

short ChannelWorker::broker_poll_events() const {
  const bool queued =
      (broker_calls_ && broker_calls_->has_queued()) || (file_calls_ && file_calls_->has_queued());
  return static_cast<short>(POLLIN | (queued ? POLLOUT : 0));
}

bool ChannelWorker::is_brokered(const seccomp_notif& call) const {
  return call_on_files(call.data) ? file_calls_ != nullptr : broker_calls_ != nullptr;
}

void ChannelWorker::begin_brokered(const seccomp_notif& call, Caller caller) {
  if (call_on_files(call.data)) {
    file_calls_->begin(call, std::move(caller));
  } else {
    broker_calls_->begin(call, std::move(caller));
  }
}

Result<void> ChannelWorker::serve_by_broker(const seccomp_notif& call, Caller caller) {
  if (!is_brokered(call)) {
    AASM_TRY(listener_.refuse(call.id, EPERM));  // the end has begun
    return {};
  }
  record_lookups();  // what opened an address stands before what goes there
  broker_placement_->follow(broker_has_calls());
  begin_brokered(call, std::move(caller));
  return answer_finished();
}

// An answer that has come, and what could not be sent before. An error: the broker is gone.
Result<void> ChannelWorker::receive_answers() {
  if (std::optional<BrokerAnswer> answer = AASM_TRY(broker_->receive())) {
    if (FileCalls::owns(answer->call)) {
      if (file_calls_) {
        file_calls_->accept(std::move(*answer));
      }
    } else if (broker_calls_) {
      broker_calls_->accept(std::move(*answer));
    }
  }
  if (broker_calls_) {
    AASM_TRY(broker_calls_->send_queued());
  }
  return file_calls_ ? file_calls_->send_queued() : Result<void>();
}

Result<void> ChannelWorker::serve_broker(short revents) {
  if (revents != 0) {
    const Result<void> received = receive_answers();
    if (!received) {
      AASM_TRY(answer_finished());
      const std::lock_guard lock(state_.mutex);
      if (!state_.ending) {
        return received.error();
      }
      broker_calls_.reset();
      file_calls_.reset();
      broker_.reset();
      return {};
    }
    AASM_TRY(answer_finished());
  }
  const auto now = Clock::now();
  if (now - callers_looked_at_ < kLookEvery) {
    return {};
  }
  callers_looked_at_ = now;
  if (broker_calls_ && broker_calls_->waiting()) {
    broker_calls_->cancel_interrupted(now);
  }
  if (file_calls_ && file_calls_->waiting()) {
    file_calls_->cancel_interrupted(now);
  }
  return {};
}

std::vector<FinishedCall> ChannelWorker::take_finished() {
  std::vector<FinishedCall> finished;
  if (broker_calls_) {
    finished = broker_calls_->take_finished();
  }
  if (file_calls_) {
    std::vector<FinishedCall> more = file_calls_->take_finished();
    finished.insert(finished.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  return finished;
}

Result<void> ChannelWorker::answer_finished() {
  for (FinishedCall& call : take_finished()) {
    AASM_TRY(answer_finished_call(std::move(call)));
  }
  return {};
}

Result<bool> ChannelWorker::give_answer(FinishedCall* call) const {
  if (call->os_errno == 0 && call->opened) {
    Result<bool> given = listener_.answer_descriptor(call->notification, std::move(call->opened),
                                                     call->close_on_exec);
    if (given) {
      return given;
    }
    // EMFILE: the caller's own table is full. Else something of ours is in the way.
    call->os_errno = given.error().os_errno();
    for (schema::Event& event : call->events) {
      event.os_errno = call->os_errno;
      if (call->os_errno != EMFILE) {
        event.outcome = schema::DecisionOutcome::kDenied;
        event.cause = schema::DecisionCause::kFault;
      }
    }
  }
  if (call->os_errno == 0 && call->let_run) {
    return listener_.let_run(call->notification);
  }
  return call->os_errno != 0 ? listener_.refuse(call->notification, call->os_errno)
                             : listener_.answer_value(call->notification, call->value);
}

// Where policy kills, the answer to the denied call, which receives no errno then.
Result<ReplyState> ChannelWorker::reply_to(FinishedCall* call) {
  const auto denied =
      std::find_if(call->events.begin(), call->events.end(),
                   [this](const schema::Event& event) { return kills(spec_.network, event); });
  if (denied != call->events.end()) {
    return kill_caller(call->notification, &*denied, std::exchange(denied->os_errno, 0));
  }
  const bool reached = AASM_TRY(give_answer(call));
  return reached ? ReplyState::kAccepted : ReplyState::kCallerGone;
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
  const ReplyState reply = AASM_TRY(reply_to(&call));
  for (schema::Event& event : call.events) {
    event.reply = reply;
    record(std::move(event), now);
  }
  return {};
}

// A canary tries what the policy denies: it is over as soon as the broker has looked at it, if that
// is needed at all. One that is let through is refused all the same, with an errno that no canary
// expects.
Result<ReplyState> ChannelWorker::refuse_brokered_canary(const seccomp_notif& call,
                                                         std::int64_t* os_errno) {
  *os_errno = kNoRefusal;
  if (is_brokered(call)) {
    begin_brokered(call, {});
    std::vector<FinishedCall> finished = take_finished();
    const auto deadline = Clock::now() + kCanaryPatience;
    while (finished.empty() && Clock::now() < deadline) {
      pollfd broker = {broker_->fd(), POLLIN, 0};
      ::poll(&broker, 1, static_cast<int>(kLookEvery.count()));
      AASM_TRY(receive_answers());
      finished = take_finished();
    }
    if (finished.empty()) {
      call_on_files(call.data) ? file_calls_->forget(call.id) : broker_calls_->forget(call.id);
    } else if (finished.front().os_errno != 0 && !finished.front().events.empty()) {
      *os_errno = finished.front().os_errno;
    }
  }
  const bool reached = AASM_TRY(listener_.refuse(call.id, *os_errno));
  return reached ? ReplyState::kAccepted : ReplyState::kCallerGone;
}

}  // namespace aasm::backend_native
