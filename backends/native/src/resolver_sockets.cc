#include "resolver_sockets.h"

#include <linux/sock_diag.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <netinet/in.h>

namespace aasm::backend_native {
namespace {

constexpr std::size_t kLargestQuestion = 1024;
constexpr std::size_t kMaxConnections = 64;
constexpr int kMostAtOnce = 64;

std::uint16_t port_in(const sockaddr_storage& name) {
  return ntohs(name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                          : reinterpret_cast<const sockaddr_in&>(name).sin_port);
}

process::Fd bound_socket(bool v6, int type, std::uint16_t port) {
  process::Fd fd(::socket(v6 ? AF_INET6 : AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::vector<std::uint8_t> at = spell_address(loopback_address(v6, port), v6);
  if (fd && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(at.data()),
                   static_cast<socklen_t>(at.size())) != 0) {
    fd.reset();
  }
  return fd;
}

std::span<const std::uint8_t> bytes_of(const char* bytes, std::size_t size) {
  return {reinterpret_cast<const std::uint8_t*>(bytes), size};
}

}  // namespace

// One port for both protocols: another program may have the one of them.
std::optional<ResolverSockets::Side> ResolverSockets::open_side(bool v6, std::uint16_t* port) {
  for (int tries = 0; tries < 16; ++tries) {
    Side side;
    side.datagrams = bound_socket(v6, SOCK_DGRAM, 0);
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    if (!side.datagrams ||
        ::getsockname(side.datagrams.get(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
      return std::nullopt;
    }
    side.listener = bound_socket(v6, SOCK_STREAM, port_in(name));
    if (side.listener && ::listen(side.listener.get(), SOMAXCONN) == 0) {
      *port = port_in(name);
      return side;
    }
  }
  return std::nullopt;
}

schema::Result<ResolverSockets> ResolverSockets::open() {
  ResolverSockets sockets;
  if (auto side = open_side(false, &sockets.responder_.v4_port)) {
    sockets.v4_ = std::move(*side);
  } else {
    return process::system_error("opening the resolver on loopback", errno);
  }
  if (auto side = open_side(true, &sockets.responder_.v6_port)) {
    sockets.v6_ = std::move(*side);
  }
  return sockets;
}

void ResolverSockets::add_descriptors(std::vector<pollfd>& fds, bool questions) const {
  if (questions) {
    for (const Side* side : {&v4_, &v6_}) {
      fds.push_back({side->datagrams.get(), POLLIN, 0});
      fds.push_back({side->listener.get(), POLLIN, 0});
    }
  }
  for (const Connection& connection : connections_) {
    const int events = (questions ? POLLIN : 0) | (connection.unsent.empty() ? 0 : POLLOUT);
    fds.push_back({connection.socket.get(), static_cast<short>(events), 0});
  }
}

void ResolverSockets::receive(const Admit& admit, const OnQuestion& take) {
  for (const bool v6 : {false, true}) {
    const Side& side = v6 ? v6_ : v4_;
    if (side.datagrams) {
      receive_datagrams(side, v6, take);
      accept_connections(side, v6, admit);
    }
  }
  // An answer may be sent while they are read, which ends none and adds none.
  for (Connection& connection : connections_) {
    read_connection(connection, take);
    flush(connection);
  }
  std::erase_if(connections_, [](const Connection& connection) { return connection.over; });
}

void ResolverSockets::receive_datagrams(const Side& side, bool v6, const OnQuestion& take) const {
  std::array<char, kLargestQuestion> buffer{};
  for (int i = 0; i < kMostAtOnce; ++i) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    const ssize_t got = ::recvfrom(side.datagrams.get(), buffer.data(), buffer.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
    if (got < 0) {
      return;
    }
    take({false, v6, port_in(from), 0}, bytes_of(buffer.data(), static_cast<std::size_t>(got)));
  }
}

void ResolverSockets::accept_connections(const Side& side, bool v6, const Admit& admit) {
  for (int i = 0; i < kMostAtOnce; ++i) {
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    process::Fd socket(::accept4(side.listener.get(), reinterpret_cast<sockaddr*>(&from), &size,
                                 SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      return;
    }
    Connection connection;
    connection.peer = {true, v6, port_in(from), ++last_};
    connection.socket = std::move(socket);
    if (admit(connection.peer)) {
      if (connections_.size() >= kMaxConnections) {
        connections_.erase(connections_.begin());  // the oldest
      }
      connections_.push_back(std::move(connection));
    }
  }
}

void ResolverSockets::read_connection(Connection& connection, const OnQuestion& take) {
  std::array<char, kLargestQuestion> buffer{};
  const ssize_t got = ::recv(connection.socket.get(), buffer.data(), buffer.size(), 0);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
    connection.over = true;
    return;
  }
  std::string& all = connection.received;
  all.append(buffer.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  while (all.size() >= 2) {
    const std::size_t size = static_cast<std::size_t>(static_cast<unsigned char>(all[0])) << 8U |
                             static_cast<unsigned char>(all[1]);
    if (size > kLargestQuestion) {
      connection.over = true;
      take(connection.peer, {});
      return;
    }
    if (all.size() < size + 2) {
      return;
    }
    const std::string question = all.substr(2, size);
    all.erase(0, size + 2);
    take(connection.peer, bytes_of(question.data(), question.size()));
  }
}

void ResolverSockets::flush(Connection& connection) {
  while (!connection.unsent.empty()) {
    const ssize_t sent = ::send(connection.socket.get(), connection.unsent.data(),
                                connection.unsent.size(), MSG_NOSIGNAL);
    if (sent < 0) {
      connection.over = connection.over || (errno != EAGAIN && errno != EINTR);
      return;
    }
    connection.unsent.erase(0, static_cast<std::size_t>(sent));
  }
}

std::int64_t ResolverSockets::take_lost() {
  std::int64_t lost = 0;
  for (Side* side : {&v4_, &v6_}) {
    std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
    socklen_t size = sizeof memory;
    if (side->datagrams &&
        ::getsockopt(side->datagrams.get(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size) == 0) {
      lost += memory[SK_MEMINFO_DROPS] - side->lost;
      side->lost = memory[SK_MEMINFO_DROPS];
    }
  }
  return lost;
}

// A datagram that finds no room is lost, as on any network.
void ResolverSockets::send(const Asker& to, const std::string& message) {
  if (!to.stream) {
    const std::vector<std::uint8_t> at = spell_address(loopback_address(to.v6, to.port), to.v6);
    const Side& side = to.v6 ? v6_ : v4_;
    static_cast<void>(::sendto(side.datagrams.get(), message.data(), message.size(), MSG_NOSIGNAL,
                               reinterpret_cast<const sockaddr*>(at.data()),
                               static_cast<socklen_t>(at.size())));
    return;
  }
  constexpr std::size_t kMostUnsent = std::size_t{256} << 10U;
  for (Connection& connection : connections_) {
    if (connection.peer.connection == to.connection && connection.unsent.size() < kMostUnsent) {
      connection.unsent += static_cast<char>(message.size() >> 8U);
      connection.unsent += static_cast<char>(message.size());
      connection.unsent += message;
      flush(connection);
    }
  }
}

}  // namespace aasm::backend_native
