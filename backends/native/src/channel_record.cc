#include <poll.h>
#include <signal.h>

#include <cerrno>
#include <utility>

#include "aasm/process/pidfd.h"

#include "channel_worker.h"

// The part of the channel's thread that answers what is judged by itself, and writes down.
namespace aasm::backend_native {

using schema::ReplyState;
using schema::Result;
using Clock = Coalescer::Clock;

namespace {

ReplyState reply_of(bool reached_caller) {
  return reached_caller ? ReplyState::kAccepted : ReplyState::kCallerGone;
}

}  // namespace

// Says who made the call; by whom that process was made, unless an open entry says so already.
void ChannelWorker::complete(const Caller& caller, pid_t tid, bool blocked, schema::Event* event) {
  const auto now = Clock::now();
  if (pace_.exhausted(now) || coalescer_.runs_low(*event, now)) {
    tell_by_directory(spec_.files, event);
  }
  event->tid = tid;
  event->pid = caller.pid;
  event->executable = caller.executable;
  if (blocked && !coalescer_.holds(kind_of(*event), *event, now)) {
    event->parents = parents_of(caller, *event, now);
    if (attribution_.is_cut(event->parents)) {
      event->parents_truncated = true;
    }
  }
}

// Of allowed events in a row by one process the chain is looked at once: it changes only when one
// of its processes ends.
std::vector<std::int64_t> ChannelWorker::parents_of(const Caller& caller,
                                                    const schema::Event& event,
                                                    Clock::time_point now) {
  constexpr std::chrono::milliseconds kFresh{100};
  const bool allowed = event.outcome == schema::DecisionOutcome::kAllowed;
  const bool known = caller.certain && caller.pid == last_chain_.pid;
  if (!allowed || !known || now - last_chain_.at > kFresh) {
    last_chain_ = {caller.pid, now, attribution_.parents(caller.pid)};
  }
  return last_chain_.parents;
}

void ChannelWorker::record(schema::Event event, Clock::time_point now) {
  if (spec_.observing.form_of(event) == Observing::Form::kUnrecorded) {
    return;
  }
  const std::int64_t before = coalescer_.full_batches();
  const EventKind kind = kind_of(event);
  coalescer_.add(kind, std::move(event), now);
  if (coalescer_.full_batches() == before) {
    return;
  }
  const int wait = static_cast<int>(pace_.take(now).count());
  if (wait > 0) {
    pollfd stop = {stop_.get(), POLLIN, 0};
    ::poll(&stop, 1, wait);  // a stop ends the wait; the loop looks at it next
  }
}

Result<ReplyState> ChannelWorker::answer(const seccomp_notif& call, Classification* verdict) {
  switch (verdict->answer) {
    case AnswerKind::kRefuse:
    case AnswerKind::kUnlessInside:
      return reply_of(AASM_TRY(listener_.refuse(call.id, verdict->event.os_errno)));
    case AnswerKind::kContinue:
      return reply_of(AASM_TRY(listener_.let_run(call.id)));
    case AnswerKind::kEmulate:
      return reply_of(AASM_TRY(listener_.answer_zero(call.id)));
    case AnswerKind::kKill:
      return kill_caller(call.id, &verdict->event, verdict->fallback_errno);
    case AnswerKind::kBroker:
      break;  // answered in channel_broker.cc
  }
  return reply_of(AASM_TRY(listener_.refuse(call.id, EPERM)));
}

// The process is opened while its thread is known to be blocked, so the signal can meet nobody
// else; the thread never returns from the call.
Result<ReplyState> ChannelWorker::kill_caller(std::uint64_t notification, schema::Event* event,
                                              std::int64_t fallback_errno) {
  const auto pid = static_cast<pid_t>(event->pid != 0 ? event->pid : event->tid);
  const Result<process::Fd> process = process::pidfd_open(pid);
  if (process && !listener_.still_blocked(notification)) {
    return ReplyState::kCallerGone;
  }
  if (process && process::send_signal(process->borrow(), SIGKILL)) {
    if (pid == child_pid_) {
      const std::lock_guard lock(state_.mutex);
      state_.killed_program = true;
    }
    return ReplyState::kKilledWhileBlocked;
  }
  event->os_errno = fallback_errno;
  return reply_of(AASM_TRY(listener_.refuse(notification, fallback_errno)));
}

}  // namespace aasm::backend_native
