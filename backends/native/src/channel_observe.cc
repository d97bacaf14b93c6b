#include <utility>

#include "channel_worker.h"

// The part of the channel's thread that records what is let through (docs/decisions/0023).
namespace aasm::backend_native {

using schema::ReplyState;
using Clock = Coalescer::Clock;

// Of a call that goes on.
void ChannelWorker::record_seen(const Caller& caller, const seccomp_notif& call, bool blocked,
                                schema::Event event) {
  const auto now = Clock::now();
  complete(caller, static_cast<pid_t>(call.pid), blocked, &event);
  event.reply = blocked ? ReplyState::kAccepted : ReplyState::kCallerGone;
  record(std::move(event), now);
}

EventKind ChannelWorker::kind_of(const schema::Event& event) const {
  return spec_.observing.form_of(event) == Observing::Form::kObservation ? EventKind::kObservation
                                                                         : EventKind::kDecision;
}

}  // namespace aasm::backend_native
