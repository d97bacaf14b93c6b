#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/record_activity.h"
#include "aasm/schema/result.h"

#include "attribution.h"
#include "broker_client.h"
#include "broker_rights.h"
#include "caller_memory.h"
#include "caller_state.h"
#include "listener.h"

// What calls have in common that the broker makes: BrokerCalls (sockets) and FileCalls.
namespace aasm::backend_native {

// Borrowed for as long as the calls last.
struct BrokerCallsSetup {
  const BrokerClient& broker;
  pid_t broker_pid;
  pid_t warden_pid;
  const BrokerRights& rights;
  Attribution& callers;
  const Listener& listener;
};

// A call that is to be answered, and what is to be recorded of it.
struct FinishedCall {
  std::uint64_t notification = 0;
  pid_t tid = 0;
  Caller caller;
  std::int64_t value = 0;     // where os_errno is 0
  std::int64_t os_errno = 0;  // kRestart: the caller takes its signal and the call starts anew
  int signal = 0;             // SIGPIPE or SIGXFSZ, sent to the caller's thread before the answer
  process::Fd opened;         // becomes a descriptor of the caller, whose number is the answer
  bool close_on_exec = false;
  bool let_run = false;               // where os_errno is 0: the caller makes the call itself
  std::vector<schema::Event> events;  // without pid, tid, parents, executable and reply
};

inline constexpr std::int64_t kRestart = 512;  // ERESTARTSYS of the kernel

// How often callers of calls that wait are looked at.
inline constexpr std::chrono::milliseconds kLookEvery{20};

// What each of them has, from its notification to its end.
struct BrokeredCall {
  std::uint64_t id = 0;  // the broker's number for it
  std::uint64_t notification = 0;
  pid_t tid = 0;
  Caller caller;
  BrokerOrder order;
  std::chrono::steady_clock::time_point sent;  // to the broker; zero: not out
  bool interrupted = false;                    // cancelled for a signal of the caller
  int signal = 0;
  std::vector<schema::Event> events;  // of those decisions that are over
};

// Calls that have been notified and not been answered. `Call` is a BrokeredCall. One thread.
template <class Call>
class CallsInFlight {
 public:
  using Clock = std::chrono::steady_clock;

  // Numbers go up by two from `first`, so that two of these share a broker.
  CallsInFlight(const BrokerCallsSetup& setup, std::uint64_t first)
      : listener_(setup.listener), broker_(setup.broker), last_(first) {}

  Call& add(const seccomp_notif& notified, Caller&& caller) {
    const std::uint64_t id = last_ += 2;
    Call& call = *calls_.emplace(id, std::make_unique<Call>()).first->second;
    call.id = id;
    call.notification = notified.id;
    call.tid = static_cast<pid_t>(notified.pid);
    call.caller = std::move(caller);
    return call;
  }

  // After a call has been begun: if it ended at once and its caller is gone, what was read may be
  // of somebody who was given the number.
  void drop_unsure(std::uint64_t notification) {
    if (!finished_.empty() && !listener_.still_blocked(notification)) {
      finished_.back().events.clear();
    }
  }

  // `try_send` takes a Call& and says whether it is done with it for now; not: later, in turn.
  template <class TrySend>
  void dispatch(Call& call, TrySend try_send) {
    const std::uint64_t id = call.id;
    if (!queue_.empty() || !try_send(call)) {
      queue_.push_back(id);
    }
  }

  // What could not be sent before. An error: the broker is gone.
  template <class TrySend>
  schema::Result<void> send_queued(TrySend try_send) {
    while (!broken_ && !queue_.empty()) {
      const auto found = calls_.find(queue_.front());
      if (found != calls_.end() && !try_send(*found->second)) {
        break;
      }
      queue_.pop_front();
    }
    return broken_ ? schema::Result<void>(*broken_) : schema::Result<void>();
  }

  // Sends the order. False: not yet.
  schema::Result<bool> send(Call& call) {
    schema::Result<bool> sent = broker_.send(call.id, call.order);
    if (!sent && !is_kernel_answer(sent.error())) {
      broken_ = sent.error();
    } else if (sent && *sent) {
      call.sent = Clock::now();
      call.interrupted = false;
    }
    return sent;
  }

  // The call that an answer is to; nullptr: it was forgotten.
  Call* take_answered(std::uint64_t id) {
    const auto found = calls_.find(id);
    if (found == calls_.end() || found->second->sent == Clock::time_point()) {
      return nullptr;
    }
    found->second->sent = Clock::time_point();
    return found->second.get();
  }

  // Cancels calls whose caller has a signal to take or is gone. To be called every kLookEvery.
  void cancel_interrupted(Clock::time_point now) {
    for (const auto& [id, call] : calls_) {
      if (call->sent == Clock::time_point() || now - call->sent < kLookEvery) {
        continue;
      }
      bool cancel = call->interrupted || !listener_.still_blocked(call->notification);
      if (!cancel) {
        const schema::Result<CallerStatus> status = read_caller_status(call->tid);
        cancel = status && status->waiting_signals != 0;
        call->interrupted = cancel;
      }
      if (cancel) {
        // When the broker's socket is full, or it was not yet waiting: next time.
        static_cast<void>(broker_.cancel(id).has_value());
      }
    }
  }

  // A call that somebody else has answered; what the broker says of it is thrown away.
  void forget(std::uint64_t notification) {
    for (auto at = calls_.begin(); at != calls_.end(); ++at) {
      if (at->second->notification == notification) {
        queue_.erase(std::remove(queue_.begin(), queue_.end(), at->first), queue_.end());
        calls_.erase(at);
        return;
      }
    }
  }

  // Takes the call off the list: it is not to be used afterwards. `finished` has what is not of
  // every call.
  void finish(Call& call, FinishedCall finished) {
    finished.notification = call.notification;
    finished.tid = call.tid;
    finished.caller = std::move(call.caller);
    finished.signal = call.signal;
    finished.events = std::move(call.events);
    finished_.push_back(std::move(finished));
    calls_.erase(call.id);
  }

  // In the order in which they ended.
  std::vector<FinishedCall> take_finished() { return std::exchange(finished_, {}); }

  bool has_queued() const { return !queue_.empty(); }
  bool waiting() const { return !calls_.empty(); }

 private:
  const Listener& listener_;
  const BrokerClient& broker_;
  std::uint64_t last_;
  std::map<std::uint64_t, std::unique_ptr<Call>> calls_;  // by the broker's number
  std::deque<std::uint64_t> queue_;                       // not yet sent
  std::vector<FinishedCall> finished_;
  std::optional<schema::Error> broken_;
};

}  // namespace aasm::backend_native
