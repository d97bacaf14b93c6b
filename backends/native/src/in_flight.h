#pragma once

#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/record_activity.h"

#include "attribution.h"
#include "broker_client.h"
#include "broker_rights.h"
#include "caller_state.h"
#include "listener.h"

// What calls have in common that the broker makes: BrokerCalls (sockets) and FileCalls.
namespace aasm::backend_native {

// Borrowed for as long as the calls last.
struct BrokerCallsSetup {
  const BrokerClient& broker;
  pid_t broker_pid;
  const BrokerRights& rights;
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
  std::vector<schema::Event> events;  // without pid, tid, parents, executable and reply
};

inline constexpr std::int64_t kRestart = 512;  // ERESTARTSYS of the kernel

// How often callers of calls that wait are looked at.
inline constexpr std::chrono::milliseconds kLookEvery{20};

template <class Call>
using CallsInFlight = std::map<std::uint64_t, std::unique_ptr<Call>>;  // by the broker's number

// Cancels calls whose caller has a signal to take or is gone.
template <class Call>
void cancel_calls(const Listener& listener, const BrokerClient& broker,
                  const CallsInFlight<Call>& calls, std::chrono::steady_clock::time_point now) {
  for (const auto& [id, call] : calls) {
    if (call->sent == std::chrono::steady_clock::time_point() || now - call->sent < kLookEvery) {
      continue;
    }
    bool cancel = call->interrupted || !listener.still_blocked(call->notification);
    if (!cancel) {
      const schema::Result<CallerStatus> status = read_caller_status(call->tid);
      cancel = status && status->waiting_signals != 0;
      call->interrupted = cancel;
    }
    if (cancel) {
      // When the broker's socket is full, or it was not yet waiting: next time.
      static_cast<void>(broker.cancel(id).has_value());
    }
  }
}

template <class Call>
void forget_call(std::uint64_t notification, CallsInFlight<Call>* calls,
                 std::deque<std::uint64_t>* queue) {
  for (auto at = calls->begin(); at != calls->end(); ++at) {
    if (at->second->notification == notification) {
      queue->erase(std::remove(queue->begin(), queue->end(), at->first), queue->end());
      calls->erase(at);
      return;
    }
  }
}

}  // namespace aasm::backend_native
