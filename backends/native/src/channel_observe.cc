#include <string>
#include <utility>

#include "channel_worker.h"
#include "file_observe.h"

// The part of the channel's thread that records what is let through (docs/decisions/0023).
namespace aasm::backend_native {

using schema::ReplyState;
using Clock = Coalescer::Clock;

// Of a call that goes on.
void ChannelWorker::record_seen(const Caller& caller, const seccomp_notif& call, bool blocked,
                                schema::Event event) {
  complete(caller, static_cast<pid_t>(call.pid), blocked, &event);
  event.reply = blocked ? ReplyState::kAccepted : ReplyState::kCallerGone;
  record(std::move(event), Clock::now());
}

// Nobody is asked before a file is executed. What a caller runs is told once for each file.
void ChannelWorker::observe_executable(const Caller& caller, const seccomp_notif& call,
                                       bool blocked) {
  constexpr std::size_t kMaxFiles = 4096;
  const std::string& path = caller.executable.bytes();
  if (!spec_.files.observes() || path.empty() || executed_.size() >= kMaxFiles ||
      !executed_.insert(path).second) {
    return;
  }
  if (FileVerdict verdict = observe_execution(spec_.files, path); verdict.recorded) {
    record_seen(caller, call, blocked, std::move(verdict.event));
  }
}

EventKind ChannelWorker::kind_of(const schema::Event& event) const {
  return spec_.observing.form_of(event) == Observing::Form::kObservation ? EventKind::kObservation
                                                                         : EventKind::kDecision;
}

}  // namespace aasm::backend_native
