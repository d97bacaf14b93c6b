#include "broker_calls.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "brokered.h"
#include "file_observe.h"
#include "in_flight.h"

namespace aasm::backend_native {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using wire::BrokerKind;

BrokerCalls::BrokerCalls(const BrokerCallsSetup& setup, const NetworkSpec& spec, const IpcSpec& ipc,
                         const FileSpec& files, const Observing& observing,
                         ResolverClients* clients)
    : listener_(setup.listener),
      broker_pid_(setup.broker_pid),
      warden_pid_(setup.warden_pid),
      rights_(setup.rights),
      callers_(setup.callers),
      spec_(spec),
      ipc_(ipc),
      files_(files),
      observing_(observing),
      clients_(clients),
      calls_(setup, 0) {}

BrokerCalls::~BrokerCalls() = default;

void BrokerCalls::cancel_interrupted(Clock::time_point now) {
  calls_.cancel_interrupted(now);
}

void BrokerCalls::forget(std::uint64_t notification) {
  calls_.forget(notification);
}

void BrokerCalls::begin(const seccomp_notif& notified, Caller caller) {
  Brokered& call = calls_.add(notified, std::move(caller));
  call.data = notified.data;
  if (const Result<void> started = start(call); !started) {
    fail(call, started.error());
  }
  calls_.drop_unsure(notified.id);
}

Result<void> BrokerCalls::start(Brokered& call) {
  const auto& args = call.data.args;
  if (memory_call(call.data.nr) == MemoryCall::kMakes) {
    return start_memory(call);
  }
  call.socket = AASM_TRY(callers_.take_descriptor(call.tid, static_cast<std::int32_t>(args[0])));
  call.facts = AASM_TRY(socket_facts(call.socket));
  call.order.socket = call.socket.get();
  switch (call.data.nr) {
    case SYS_listen:
      return start_listen(call);
    case SYS_connect:
    case SYS_bind: {
      const bool binds = call.data.nr == SYS_bind;
      call.order.kind = binds ? BrokerKind::kBind : BrokerKind::kConnect;
      return start_address(
          call, binds ? NetworkCall::kBind : NetworkCall::kConnect,
          AASM_TRY(read_address(call.tid, args[1], static_cast<std::int32_t>(args[2]))));
    }
    case SYS_sendmmsg:
      call.num_messages = std::min<std::uint64_t>(args[2] & 0xFFFFFFFFU, kMaxMessages);
      if (call.num_messages == 0) {
        finish(call, 0, 0);
        return {};
      }
      break;
    default:
      break;
  }
  call.order.kind = BrokerKind::kSend;
  return start_message(call);
}

Result<void> BrokerCalls::start_listen(Brokered& call) {
  call.order.kind = BrokerKind::kListen;
  call.order.backlog = static_cast<std::int32_t>(call.data.args[1]);
  if (call.facts.family != AF_UNIX) {
    const std::string name = AASM_TRY(socket_name(call.socket));
    if (!admit(call, judge_address(spec_, NetworkCall::kListen, call.facts, bytes_of(name)))) {
      return {};
    }
    call.order.name.clear();
  }
  dispatch(call);
  return {};
}

Result<void> BrokerCalls::start_address(Brokered& call, NetworkCall what,
                                        const std::string& address) {
  if (call.facts.family == AF_UNIX) {
    return start_unix(call, what, address);
  }
  if (!AASM_TRY(admit_address(call, what, address))) {
    return {};
  }
  // A connection may take its time, whatever the socket's flags say by then.
  if (call.order.kind == BrokerKind::kConnect && call.facts.type == SOCK_STREAM) {
    call.order.flags |= wire::kBrokerOwnThread;
  }
  if (call.order.kind == BrokerKind::kBind) {
    AASM_TRY(add_credentials(call));
  }
  dispatch(call);
  return {};
}

Result<bool> BrokerCalls::admit_address(Brokered& call, NetworkCall what,
                                        const std::string& address) {
  NetworkVerdict verdict = judge_address(spec_, what, call.facts, bytes_of(address));
  if (verdict.asked) {
    AASM_TRY(note_client(call, verdict));
  }
  if (verdict.source_for) {
    const Result<InternetAddress> source = source_address(*verdict.source_for);
    if (!source) {
      verdict.perform = false;
      verdict.event.os_errno = source.error().os_errno();
    } else {
      verdict.address = spell_address(*source, call.facts.family == AF_INET6);
    }
  }
  return admit(call, std::move(verdict), address);
}

// False: the call is finished. `address`: what it is made with where a refusal is let through.
bool BrokerCalls::admit(Brokered& call, NetworkVerdict verdict, const std::string& address) {
  call.event.reset();
  if (!verdict.perform && observing_.lets_through(verdict.event)) {
    verdict.perform = true;
    verdict.event = seen(std::move(verdict.event));
    verdict.address.assign(address.begin(), address.end());
  }
  if (verdict.recorded) {
    call.event = std::move(verdict.event);
  }
  if (!verdict.perform) {
    const std::int64_t os_errno = call.event ? call.event->os_errno : EACCES;
    if (call.event) {
      call.events.push_back(std::move(*call.event));
      call.event.reset();
    }
    // Messages that went before it count.
    finish(call, call.message_index > 0 ? static_cast<std::int64_t>(call.message_index) : 0,
           call.message_index > 0 ? 0 : os_errno);
    return false;
  }
  call.order.name.assign(verdict.address.begin(), verdict.address.end());
  return true;
}

Result<void> BrokerCalls::start_unix(Brokered& call, NetworkCall what, const std::string& address) {
  const UnixName name = read_unix_name(address);
  call.order.name = address;
  const bool looks_up = what != NetworkCall::kSend || call.facts.type == SOCK_DGRAM;
  if (name.kind == UnixName::Kind::kPath && looks_up) {
    return order_unix_path(call, what, name.text);
  }
  call.order.flags |= wire::kBrokerOwnThread;
  AASM_TRY(add_credentials(call));
  dispatch(call);
  return {};
}

Result<void> BrokerCalls::add_credentials(Brokered& call) {
  if (!rights_.may_differ()) {
    return {};
  }
  return rights_.give(AASM_TRY(read_caller_status(call.tid)), &call.order);
}

// The next message of a call that sends, up to the broker.
Result<void> BrokerCalls::start_message(Brokered& call) {
  AASM_TRY(read_message(call));
  OutgoingMessage& message = call.message;
  const bool stream = call.facts.type == SOCK_STREAM;
  if (!stream && message.total > wire::kMaxBrokerData) {
    return kernel_answer(EMSGSIZE);
  }
  BrokerOrder& order = call.order;
  order.kind = BrokerKind::kSend;
  order.flags = (stream ? wire::kBrokerStream : 0U) |
                ((order.send_flags & MSG_DONTWAIT) != 0 ? 0U : wire::kBrokerMayWait);
  if (call.facts.family == AF_UNIX) {
    AASM_TRY(add_credentials(call));
  }
  if (message.name.empty()) {
    dispatch(call);
    return {};
  }
  const bool connects = (order.send_flags & MSG_FASTOPEN) != 0;
  if (connects) {
    order.flags |= wire::kBrokerOwnThread;
  }
  return start_address(call, connects ? NetworkCall::kConnect : NetworkCall::kSend, message.name);
}

void BrokerCalls::accept(BrokerAnswer answer) {
  Brokered* call = calls_.take_answered(answer.call);
  if (call == nullptr) {
    return;
  }
  if (const Result<void> gone_on = go_on(*call, answer); !gone_on) {
    fail(*call, gone_on.error());
  }
}

Result<void> BrokerCalls::go_on(Brokered& call, BrokerAnswer& answer) {
  if (answer.fault) {
    return Error(ErrorCode::kUnavailable, "the broker could not make the call",
                 static_cast<int>(-answer.result));
  }
  if (call.interrupted && answer.result == -EINTR && call.gone == 0) {
    // Not an outcome: the call begins anew, or its handler's EINTR is the kernel's to give.
    call.event.reset();
    finish(call, static_cast<std::int64_t>(call.message_index),
           call.message_index > 0 ? 0 : kRestart);
    return {};
  }
  if (call.order.kind == BrokerKind::kFile) {
    return take_target(call, answer);
  }
  if (call.order.kind == BrokerKind::kMemory) {
    memory_made(call, answer.result);
    return {};
  }
  if (call.order.kind == BrokerKind::kSend) {
    return message_sent(call, answer.result);
  }
  const std::int64_t os_errno = answer.result < 0 ? -answer.result : 0;
  note_bound_socket(call, answer);
  if (!call.bind.address.empty()) {
    if (is_bind_over(call, os_errno)) {
      end_bind(call, judge_outcome(files_, call.bind.described, static_cast<int>(os_errno)),
               os_errno);
    }
    return {};
  }
  note_scope_refusal(call, os_errno);
  note_outcome(call, os_errno);
  finish(call, os_errno == 0 ? answer.result : 0, os_errno);
  return {};
}

Result<void> BrokerCalls::message_sent(Brokered& call, std::int64_t result) {
  OutgoingMessage& message = call.message;
  const bool stream = call.facts.type == SOCK_STREAM;
  if (result > 0) {
    call.gone += static_cast<std::uint64_t>(result);
    if (stream && call.gone < message.total && result == call.piece) {
      call.order.control.clear();
      call.order.rights.clear();
      message.rights.clear();
      dispatch(call);
      return {};
    }
  }
  const std::int64_t os_errno = result < 0 && call.gone == 0 ? -result : 0;
  note_scope_refusal(call, os_errno);
  note_outcome(call, os_errno);
  if (os_errno == EPIPE && stream && (call.order.send_flags & MSG_NOSIGNAL) == 0) {
    call.signal = SIGPIPE;
  }
  if (call.data.nr != SYS_sendmmsg) {
    finish(call, static_cast<std::int64_t>(call.gone), os_errno);
    return {};
  }
  if (os_errno != 0) {
    finish(call, static_cast<std::int64_t>(call.message_index),
           call.message_index > 0 ? 0 : os_errno);
    return {};
  }
  AASM_TRY(write_sent_length(call));
  if (++call.message_index == call.num_messages) {
    finish(call, static_cast<std::int64_t>(call.message_index), 0);
    return {};
  }
  call.order.target = -1;
  call.order.name.clear();
  return start_message(call);
}

}  // namespace aasm::backend_native
