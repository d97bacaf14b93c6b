#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"

// Addresses as the kernel reads them out of bytes that the workload wrote. Pure.
namespace aasm::backend_native {

// What the kernel says a socket is: SO_DOMAIN, SO_TYPE, SO_PROTOCOL.
struct SocketFacts {
  int family = 0;
  int type = 0;
  int protocol = 0;
};

enum class NetworkCall : std::uint8_t {
  kConnect,  // and a send with MSG_FASTOPEN
  kBind,
  kListen,  // on the name that getsockname(2) gives for the socket
  kSend,    // with an address
};

// An address and port that a packet can go to or come from. Never one that is mapped: those are the
// IPv4 address they stand for.
struct InternetAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // the first four for IPv4
  std::uint16_t port = 0;

  bool operator==(const InternetAddress&) const = default;
};

// "10.0.0.1", "fe80::1": without port, brackets or zone.
std::string address_text(const InternetAddress& address);

// 127.0.0.1 or ::1.
InternetAddress loopback_address(bool v6, std::uint16_t port);

// The struct sockaddr_in or sockaddr_in6 that names it; with `v6` as a socket of IPv6 spells it,
// which is mapped for IPv4. `scope`: an interface, of a link-local address.
std::vector<std::uint8_t> spell_address(const InternetAddress& address, bool v6,
                                        std::uint32_t scope = 0);

schema::AddressClass address_class(const InternetAddress& address);

enum class AddressReading : std::uint8_t {
  kAddress,
  kDissolve,  // AF_UNSPEC in connect(2): the socket has no peer from now on
  kRefused,   // the kernel would, with os_errno, whatever policy says
};

struct ReadAddress {
  AddressReading reading = AddressReading::kRefused;
  int os_errno = 0;
  InternetAddress address;  // kAddress
  // What the call is to be made with. The bytes as they came, but for three spellings of which the
  // kernel makes different things on different sockets: as a destination 0.0.0.0 and :: are written
  // out as the loopback address, AF_UNSPEC that means an IPv4 address is AF_INET, and a flow label
  // is taken out, since one can carry a route with it.
  std::vector<std::uint8_t> bytes;
};

// `address` is what was copied from the caller: any bytes. For AF_INET and AF_INET6 sockets of type
// stream or datagram; for others EAFNOSUPPORT. Follows inet_bind(), inet6_bind(),
// inet_stream_connect(), ip6_datagram_connect(), udp_sendmsg() and udpv6_sendmsg() of Linux 6.12,
// stricter in one place: AF_UNSPEC in a send on an IPv6 socket, which the kernel takes for no
// address, is EAFNOSUPPORT here, since IPV6_ADDRFORM could meanwhile make it an IPv4 address.
ReadAddress read_address(const SocketFacts& socket, NetworkCall call,
                         std::span<const std::uint8_t> address);

}  // namespace aasm::backend_native
