#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include <netinet/in.h>

#include "flips.h"

// Sockets: the two ports are ones of 127.0.0.1. Whoever listens at the denied one tells of leaks.
namespace flips {
namespace {

constexpr std::size_t kMessages = 8;

sockaddr_in at_port(const std::string& port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(static_cast<std::uint16_t>(std::strtol(port.c_str(), nullptr, 10)));
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return name;
}

// A stream or sequence that reached somebody has a peer.
bool has_peer(int fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  return ::getpeername(fd, reinterpret_cast<sockaddr*>(&name), &size) == 0;
}

bool is_bound(int fd) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) == 0 && name.sin_port != 0;
}

long call_on(int fd, long i, const sockaddr* name, socklen_t size) {
  switch (i % 3) {
    case 0:
      return ::connect(fd, name, size);
    case 1:
      return ::sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, name, size);
    default:
      return ::bind(fd, name, size);
  }
}

}  // namespace

// One descriptor stands by turns for a UDP socket, which may reach the first port, and for sockets
// of other families and types, which may not; no port may be bound.
Counts flip_sockets(long rounds, const Arguments& ports) {
  Counts counts;
  const sockaddr_in name = at_port(ports.at(0));
  const std::array<int, 4> ends = {::socket(AF_INET, SOCK_DGRAM, 0),
                                   ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
                                   ::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0),
                                   ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)};
  const int flipped = ::dup(ends[0]);
  std::atomic<std::size_t> turn = 0;
  const Flipper flipper(
      [&](int i) { ::dup2(i == 0 ? ends[0] : ends.at(1 + turn++ % (ends.size() - 1)), flipped); });
  for (long i = 0; i < rounds; ++i) {
    count(counts, call_on(flipped, i, reinterpret_cast<const sockaddr*>(&name), sizeof name));
  }
  counts.leaks = has_peer(ends[1]) || has_peer(ends[2]) || is_bound(ends[1]) ? 1 : 0;
  return counts;
}

// Each header of a vector flips between two names; `made` are messages.
Counts flip_messages(long rounds, const Arguments& ports) {
  Counts counts;
  std::array<sockaddr_in, 2> names = {at_port(ports.at(0)), at_port(ports.at(1))};
  std::array<char, 1> byte = {'x'};
  iovec piece = {byte.data(), byte.size()};
  std::array<mmsghdr, kMessages> headers{};
  for (mmsghdr& header : headers) {
    header.msg_hdr.msg_name = names.data();
    header.msg_hdr.msg_namelen = sizeof names[0];
    header.msg_hdr.msg_iov = &piece;
    header.msg_hdr.msg_iovlen = 1;
  }
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  const Flipper flipper([&](int i) {
    for (mmsghdr& header : headers) {
      *static_cast<void* volatile*>(&header.msg_hdr.msg_name) =
          &names.at(static_cast<std::size_t>(i));
    }
  });
  for (long i = 0; i < rounds; ++i) {
    const int sent = ::sendmmsg(fd, headers.data(), kMessages, 0);
    counts.made += sent > 0 ? sent : 0;
    counts.refused += sent < static_cast<int>(kMessages) ? 1 : 0;
    counts.other += sent < 0 && errno != EACCES ? 1 : 0;
  }
  return counts;
}

}  // namespace flips
