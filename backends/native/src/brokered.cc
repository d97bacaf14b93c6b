#include "brokered.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <netinet/in.h>

#include "caller_state.h"

namespace aasm::backend_native {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Error;
using schema::Event;
using schema::Result;
using wire::BrokerKind;

namespace {

// MSG_ZEROCOPY asks for news of the buffer, which here is the broker's; the rest above bit 24 is
// the kernel's own.
constexpr std::uint32_t kFlagsNotPassedOn = 0x04000000;

// Of a struct sockaddr_in or sockaddr_in6.
std::uint16_t port_of(const std::string& name) {
  sockaddr_in parsed{};  // the port stands in the same place in both
  std::memcpy(&parsed, name.data(), std::min(name.size(), sizeof parsed));
  return ntohs(parsed.sin_port);
}

}  // namespace

UnixName read_unix_name(const std::string& address) {
  UnixName name;
  constexpr std::size_t kFamilySize = sizeof(sa_family_t);
  sa_family_t family = 0;
  if (address.size() > kFamilySize) {
    family = static_cast<sa_family_t>(
        static_cast<std::uint8_t>(address[0]) |
        (static_cast<unsigned>(static_cast<std::uint8_t>(address[1])) << 8U));
  }
  if (family != AF_UNIX || address.size() > sizeof(sockaddr_un)) {
    return name;
  }
  const std::string text = address.substr(kFamilySize);
  if (text[0] == '\0') {
    name.kind = UnixName::Kind::kAbstract;
    name.text = text.substr(1);
  } else {
    name.kind = UnixName::Kind::kPath;
    name.text = text.substr(0, text.find('\0'));
  }
  return name;
}

Result<void> BrokerCalls::read_message(Brokered& call) {
  const auto& args = call.data.args;
  call.gone = 0;
  switch (call.data.nr) {
    case SYS_sendto:
      call.message = AASM_TRY(read_sendto(call.tid, call.data));
      call.order.send_flags = static_cast<std::uint32_t>(args[3]);
      break;
    case SYS_sendmsg:
      call.message = AASM_TRY(
          read_msghdr(call.tid, static_cast<pid_t>(call.caller.pid), args[1], spec_, broker_pid_));
      call.order.send_flags = static_cast<std::uint32_t>(args[2]);
      break;
    default:
      call.message =
          AASM_TRY(read_msghdr(call.tid, static_cast<pid_t>(call.caller.pid),
                               args[1] + call.message_index * kMmsghdrSize, spec_, broker_pid_));
      call.order.send_flags = static_cast<std::uint32_t>(args[3]);
      break;
  }
  call.order.send_flags &= ~kFlagsNotPassedOn;
  call.order.control = call.message.control;
  call.order.rights.clear();
  for (const process::Fd& fd : call.message.rights) {
    call.order.rights.push_back(fd.get());
  }
  return {};
}

// Before the question is on its way: the resolver has to know the socket that it comes from, by its
// port, which the kernel would else choose on the way.
Result<void> BrokerCalls::note_client(const Brokered& call, const NetworkVerdict& verdict) const {
  ResolverClient client;
  std::string name = AASM_TRY(socket_name(call.socket));
  const bool v6 = call.facts.family == AF_INET6;
  if (port_of(name) == 0) {
    const std::vector<std::uint8_t> any(v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    std::string unbound(any.begin(), any.end());
    std::copy_n(name.begin(), sizeof(sa_family_t), unbound.begin());
    if (::bind(call.socket.get(), reinterpret_cast<const sockaddr*>(unbound.data()),
               static_cast<socklen_t>(unbound.size())) != 0) {
      return process::system_error("binding a socket to a port", errno);
    }
    name = AASM_TRY(socket_name(call.socket));
  }
  socklen_t size = sizeof client.cookie;
  if (clients_ == nullptr ||
      ::getsockopt(call.socket.get(), SOL_SOCKET, SO_COOKIE, &client.cookie, &size) != 0) {
    return process::system_error("asking for the cookie of a socket", errno);
  }
  client.stream = call.facts.type == SOCK_STREAM;
  client.v6 = v6 && verdict.asked->v6 && spec_.responder.v6_port != 0;
  client.port = port_of(name);
  client.asked = *verdict.asked;
  client.caller = call.caller;
  client.tid = call.tid;
  clients_->add(std::move(client));
  return {};
}

Result<void> BrokerCalls::write_sent_length(const Brokered& call) {
  const auto length = static_cast<std::uint32_t>(call.gone);
  const std::uint64_t place =
      call.data.args[1] + call.message_index * kMmsghdrSize + kMmsghdrLength;
  return write_memory(call.tid, place, &length, sizeof length);
}

// Sends at once or, behind others, when the broker has taken those.
void BrokerCalls::dispatch(Brokered& call) {
  calls_.dispatch(call, [this](Brokered& one) { return try_send(one); });
}

// The bytes are read when they can be sent, so that what waits holds none. False: not yet. The call
// may be gone afterwards.
bool BrokerCalls::try_send(Brokered& call) {
  BrokerOrder& order = call.order;
  if (order.kind == BrokerKind::kSend) {
    Result<std::string> data =
        read_spans(call.tid, call.message.spans, call.gone, wire::kMaxBrokerData);
    if (!data) {
      fail(call, data.error());
      return true;
    }
    order.data = std::move(*data);
    call.piece = static_cast<std::int64_t>(order.data.size());
  }
  // Only a thread that is still blocked was the one that was read and taken from.
  if (!listener_.still_blocked(call.notification)) {
    call.event.reset();
    call.events.clear();
    finish(call, 0, EINTR);
    return true;
  }
  const Result<bool> sent = calls_.send(call);
  order.data = std::string();
  if (!sent) {
    fail(call, sent.error());
    return true;
  }
  if (!*sent) {
    return false;
  }
  const bool asks_later = (order.flags & wire::kBrokerSayFile) != 0 || !call.bind.address.empty();
  if (order.kind != BrokerKind::kSend && order.kind != BrokerKind::kFile && !asks_later) {
    call.socket.reset();  // the broker has its own
    call.directory.reset();
  }
  return true;
}

Result<void> BrokerCalls::send_queued() {
  return calls_.send_queued([this](Brokered& call) { return try_send(call); });
}

// Ends a call that was not made, or not to its end.
void BrokerCalls::fail(Brokered& call, const Error& error) {
  const std::int64_t os_errno = error.os_errno() != 0 ? error.os_errno() : EPERM;
  if (call.gone > 0 || call.message_index > 0) {
    const bool many = call.data.nr == SYS_sendmmsg;
    finish(call, static_cast<std::int64_t>(many ? call.message_index : call.gone), 0);
    return;
  }
  if (!is_kernel_answer(error)) {
    note_fault(call, os_errno);
  }
  finish(call, 0, os_errno);
}

void BrokerCalls::note_outcome(Brokered& call, std::int64_t os_errno) {
  if (call.event) {
    call.event->os_errno = os_errno;
    call.event->mechanism = "broker";
    call.events.push_back(std::move(*call.event));
    call.event.reset();
  }
}

void BrokerCalls::note_fault(Brokered& call, std::int64_t os_errno) {
  const bool binds = call.data.nr == SYS_bind || call.data.nr == SYS_listen;
  if (call.order.kind == BrokerKind::kMemory) {
    Event event = memory_refused(ipc_, memory_text(call.data));
    event.cause = DecisionCause::kFault;
    event.os_errno = os_errno;
    call.events.push_back(std::move(event));
    return;
  }
  const std::string what =
      "descriptor " + std::to_string(static_cast<std::int32_t>(call.data.args[0]));
  if (!call.bind.address.empty() || (!spec_.judges() && !ipc_.judges_sockets())) {
    FileCall described = call.bind.described;
    described.operations = {FileOperation::kMakeNode};
    if (described.file.path.empty()) {
      described.file.given = what;
    }
    call.events.push_back(refuse_by_fault(files_, described, os_errno).event);
    return;
  }
  if (!spec_.judges() || (call.facts.family == AF_UNIX && ipc_.judges_sockets())) {
    call.events.push_back(ipc_fault(ipc_, what, os_errno));
    return;
  }
  Event event;
  event.domain =
      spec_.egress_stated ? schema::Domain::kNetworkEgress : schema::Domain::kNameResolution;
  event.operation = binds ? "bind" : "connect";
  event.object.type = schema::ObjectType::kSocket;
  event.object.name = what;
  event.outcome = DecisionOutcome::kDenied;
  event.cause = DecisionCause::kFault;
  event.rule = spec_.egress_stated ? spec_.egress_default : spec_.names_default;
  event.os_errno = os_errno;
  event.mechanism = "seccomp_user_notification";
  call.events.push_back(std::move(event));
}

// The call is not to be used afterwards.
void BrokerCalls::finish(Brokered& call, std::int64_t value, std::int64_t os_errno) {
  FinishedCall finished;
  finished.value = value;
  finished.os_errno = os_errno;
  calls_.finish(call, std::move(finished));
}

}  // namespace aasm::backend_native
