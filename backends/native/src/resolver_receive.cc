#include "resolver_receive.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include <netinet/in.h>

#include "caller_memory.h"
#include "caller_state.h"
#include "in_flight.h"

namespace aasm::backend_native {
namespace {

using schema::Result;

constexpr std::size_t kLargestDatagram = 65535;

bool never_waits(const process::Fd& socket, int flags) {
  const int status = ::fcntl(socket.get(), F_GETFL);
  return (flags & MSG_DONTWAIT) != 0 || (status >= 0 && (status & O_NONBLOCK) != 0);
}

std::optional<ReceiveCalls::Clock::time_point> deadline_of(const process::Fd& socket) {
  timeval patience{};
  socklen_t size = sizeof patience;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, &size) != 0 ||
      (patience.tv_sec == 0 && patience.tv_usec == 0)) {
    return std::nullopt;
  }
  return ReceiveCalls::Clock::now() + std::chrono::seconds(patience.tv_sec) +
         std::chrono::microseconds(patience.tv_usec);
}

Result<void> write_spans(pid_t tid, const std::vector<RemoteSpan>& spans, std::string_view bytes) {
  for (const RemoteSpan& span : spans) {
    const std::size_t part = std::min<std::size_t>(span.size, bytes.size());
    if (part > 0) {
      AASM_TRY(write_memory(tid, span.address, bytes.data(), part));
      bytes.remove_prefix(part);
    }
  }
  return {};
}

// As move_addr_to_user() of the kernel.
Result<void> write_name(pid_t tid, std::uint64_t place, std::uint64_t size_place,
                        const std::string& name) {
  std::int32_t room = 0;
  AASM_TRY(read_memory(tid, size_place, &room, sizeof room));
  if (room < 0) {
    return kernel_answer(EINVAL);
  }
  const std::size_t part = std::min(name.size(), static_cast<std::size_t>(room));
  if (part > 0) {
    AASM_TRY(write_memory(tid, place, name.data(), part));
  }
  const auto size = static_cast<std::int32_t>(name.size());
  return write_memory(tid, size_place, &size, sizeof size);
}

}  // namespace

// nullopt: no socket of ours.
std::optional<ReceiveCalls::Call> ReceiveCalls::claim(const seccomp_notif& notified) const {
  Call call;
  call.notification = notified.id;
  call.tid = static_cast<pid_t>(notified.pid);
  call.data = notified.data;
  Result<process::Fd> socket =
      take_descriptor(call.tid, static_cast<std::int32_t>(notified.data.args[0]));
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (!socket || ::getsockopt(socket->get(), SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) {
    return std::nullopt;
  }
  const std::optional<ResolverClient> client = clients_.by_cookie(cookie);
  if (!client || (client->stream && notified.data.nr != SYS_getpeername)) {
    return std::nullopt;
  }
  call.socket = std::move(*socket);
  call.asked = client->asked;
  return call;
}

Result<void> ReceiveCalls::begin(const seccomp_notif& notified) {
  std::optional<Call> call = clients_.empty() ? std::nullopt : claim(notified);
  if (!call) {
    AASM_TRY(listener_.let_run(notified.id));
    return {};
  }
  if (!listener_.still_blocked(notified.id)) {
    return {};
  }
  if (notified.data.nr == SYS_getpeername) {
    return answer(*call, tell_peer(*call));
  }
  if (!AASM_TRY(receive(*call))) {
    call->deadline = deadline_of(call->socket);
    held_.push_back(std::move(*call));
  }
  return {};
}

Result<void> ReceiveCalls::look_again(Clock::time_point now) {
  std::vector<Call> held = std::exchange(held_, {});
  for (Call& call : held) {
    if (!listener_.still_blocked(call.notification) || AASM_TRY(receive(call))) {
      continue;
    }
    const Result<CallerStatus> status = read_caller_status(call.tid);
    if (status && status->waiting_signals != 0) {
      AASM_TRY(listener_.refuse(call.notification, kRestart));
    } else if (call.deadline && now >= *call.deadline) {
      AASM_TRY(listener_.refuse(call.notification, EAGAIN));
    } else {
      held_.push_back(std::move(call));
    }
  }
  return {};
}

Result<bool> ReceiveCalls::receive(const Call& call) const {
  const Result<Places> places = read_places(call);
  if (!places) {
    AASM_TRY(answer(call, places.error()));
    return true;
  }
  if ((places->flags & MSG_ERRQUEUE) != 0) {
    AASM_TRY(listener_.let_run(call.notification));
    return true;
  }
  const Result<std::int64_t> taken = take(call, *places);
  const bool nothing = !taken && taken.error().os_errno() == EAGAIN;
  if (nothing && !never_waits(call.socket, places->flags)) {
    return false;
  }
  AASM_TRY(answer(call, taken));
  return true;
}

Result<std::int64_t> ReceiveCalls::take(const Call& call, const Places& places) const {
  std::string bytes(std::min<std::size_t>(places.total, kLargestDatagram), '\0');
  sockaddr_storage from{};
  iovec piece = {bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_name = &from;
  header.msg_namelen = sizeof from;
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  const ssize_t got =
      ::recvmsg(call.socket.get(), &header, MSG_DONTWAIT | (places.flags & (MSG_PEEK | MSG_TRUNC)));
  if (got < 0) {
    return kernel_answer(errno);
  }
  bytes.resize(std::min(bytes.size(), static_cast<std::size_t>(got)));
  AASM_TRY(write_spans(call.tid, places.spans, bytes));
  if (places.name != 0) {
    const std::string seen(reinterpret_cast<const char*>(&from), header.msg_namelen);
    AASM_TRY(write_name(call.tid, places.name, places.name_size, name_for(call, seen)));
  }
  if (places.header != 0) {
    const std::uint64_t no_control = 0;
    const auto flags = static_cast<std::uint32_t>(header.msg_flags & ~MSG_CTRUNC);
    AASM_TRY(write_memory(call.tid, places.header + offsetof(RemoteHeader, control_size),
                          &no_control, sizeof no_control));
    AASM_TRY(write_memory(call.tid, places.header + offsetof(RemoteHeader, flags), &flags,
                          sizeof flags));
  }
  if (places.length == 0) {
    return static_cast<std::int64_t>(got);
  }
  const auto length = static_cast<std::uint32_t>(got);
  AASM_TRY(write_memory(call.tid, places.length, &length, sizeof length));
  return 1;
}

Result<std::int64_t> ReceiveCalls::tell_peer(const Call& call) const {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(call.socket.get(), reinterpret_cast<sockaddr*>(&peer), &size) != 0) {
    return kernel_answer(errno);
  }
  const std::string seen(reinterpret_cast<const char*>(&peer), size);
  AASM_TRY(write_name(call.tid, call.data.args[1], call.data.args[2], name_for(call, seen)));
  return 0;
}

Result<void> ReceiveCalls::answer(const Call& call, const Result<std::int64_t>& result) const {
  if (result) {
    AASM_TRY(listener_.answer_value(call.notification, *result));
  } else {
    const std::int64_t os_errno = result.error().os_errno();
    AASM_TRY(listener_.refuse(call.notification, os_errno != 0 ? os_errno : EFAULT));
  }
  return {};
}

// Who it seems to be: the resolver goes by the name of whom it stands for.
std::string ReceiveCalls::name_for(const Call& call, const std::string& seen) const {
  const std::uint8_t family = seen.empty() ? 0 : static_cast<std::uint8_t>(seen[0]);
  const bool v6 = family == AF_INET6;
  for (const InternetAddress& own :
       {loopback_address(false, responder_.v4_port), loopback_address(true, responder_.v6_port)}) {
    if (own.v6 && !v6) {
      continue;
    }
    const std::vector<std::uint8_t> spelled = spell_address(own, v6);
    if (own.port != 0 &&
        std::equal(spelled.begin(), spelled.end(), seen.begin(), seen.end(),
                   [](std::uint8_t a, char b) { return static_cast<char>(a) == b; })) {
      const std::vector<std::uint8_t> believed = spell_address(call.asked, v6);
      return {believed.begin(), believed.end()};
    }
  }
  return seen;
}

Result<ReceiveCalls::Places> ReceiveCalls::read_places(const Call& call) {
  const auto& args = call.data.args;
  Places places;
  if (call.data.nr == SYS_recvfrom) {
    places.total = std::min<std::uint64_t>(args[2], kLargestDatagram);
    places.spans = {{args[1], places.total}};
    places.name = args[4];
    places.name_size = args[5];
    places.flags = static_cast<int>(args[3]);
    return places;
  }
  const bool many = call.data.nr == SYS_recvmmsg;
  if (many && (args[2] & 0xFFFFFFFFU) == 0) {
    return kernel_answer(EINVAL);
  }
  RemoteHeader header{};
  places.header = args[1];
  AASM_TRY(read_memory(call.tid, places.header, &header, sizeof header));
  places.spans = AASM_TRY(read_span_list(call.tid, header, &places.total));
  places.name = header.name;
  places.name_size = places.header + offsetof(RemoteHeader, name_size);
  places.length = many ? places.header + kMmsghdrLength : 0;
  places.flags = static_cast<int>(many ? args[3] : args[2]);
  return places;
}

}  // namespace aasm::backend_native
