#include "network_address.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace aasm::backend_native {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kFamilyEnd = 2;
constexpr std::size_t kPortAt = 2;
constexpr std::size_t kV4At = 4;
constexpr std::size_t kV4Length = sizeof(sockaddr_in);
constexpr std::size_t kFlowAt = 4;
constexpr std::size_t kV6At = 8;
constexpr std::size_t kV6Length = 24;  // SIN6_LEN_RFC2133: the scope may be missing
constexpr std::size_t kMostBytes = sizeof(sockaddr_storage);
constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<std::uint8_t, 4> kV4Loopback = {127, 0, 0, 1};

int family_of(Bytes bytes) {
  sa_family_t family = 0;
  std::memcpy(&family, bytes.data(), sizeof family);
  return family;
}

std::uint16_t port_of(Bytes bytes) {
  return static_cast<std::uint16_t>(bytes[kPortAt] << 8U | bytes[kPortAt + 1]);
}

bool all_zero(Bytes bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

ReadAddress refused(int os_errno) {
  ReadAddress read;
  read.os_errno = os_errno;
  return read;
}

ReadAddress dissolve(Bytes bytes) {
  ReadAddress read;
  read.reading = AddressReading::kDissolve;
  read.bytes.assign(bytes.begin(), bytes.end());
  return read;
}

void set_family(std::vector<std::uint8_t>& bytes, sa_family_t family) {
  std::memcpy(bytes.data(), &family, sizeof family);
}

// ip_route_output_key() and tcp_v6_connect() take an unspecified destination for an address of this
// host, and which one depends on what the socket is bound to.
bool is_destination(NetworkCall call) {
  return call == NetworkCall::kConnect || call == NetworkCall::kSend;
}

ReadAddress read_v4(NetworkCall call, Bytes bytes) {
  ReadAddress read;
  read.reading = AddressReading::kAddress;
  read.bytes.assign(bytes.begin(), bytes.end());
  set_family(read.bytes, AF_INET);
  const auto at = read.bytes.begin() + kV4At;
  if (is_destination(call) && all_zero(bytes.subspan(kV4At, 4))) {
    std::copy(kV4Loopback.begin(), kV4Loopback.end(), at);
  }
  std::copy_n(at, 4, read.address.bytes.begin());
  read.address.port = port_of(bytes);
  return read;
}

ReadAddress read_v6(NetworkCall call, Bytes bytes) {
  ReadAddress read;
  read.reading = AddressReading::kAddress;
  read.bytes.assign(bytes.begin(), bytes.end());
  read.address.port = port_of(bytes);
  if (is_destination(call)) {
    std::fill_n(read.bytes.begin() + kFlowAt, 4, 0);
  }
  const auto at = read.bytes.begin() + kV6At;
  const bool mapped = std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), at);
  if (mapped) {
    const auto v4_at = at + static_cast<std::ptrdiff_t>(kMappedPrefix.size());
    if (is_destination(call) && all_zero(bytes.subspan(kV6At + kMappedPrefix.size(), 4))) {
      std::copy(kV4Loopback.begin(), kV4Loopback.end(), v4_at);
    }
    std::copy_n(v4_at, 4, read.address.bytes.begin());
    return read;
  }
  if (is_destination(call) && all_zero(bytes.subspan(kV6At, 16))) {
    *(at + 15) = 1;
  }
  read.address.v6 = true;
  std::copy_n(at, 16, read.address.bytes.begin());
  return read;
}

ReadAddress read_bound(bool v6, NetworkCall call, Bytes bytes) {
  if (bytes.size() < (v6 ? kV6Length : kV4Length)) {
    return refused(EINVAL);
  }
  if (v6) {
    return family_of(bytes) == AF_INET6 ? read_v6(call, bytes) : refused(EAFNOSUPPORT);
  }
  // inet_bind(): AF_UNSPEC is taken for AF_INET when the address is unspecified.
  const bool any = family_of(bytes) == AF_UNSPEC && all_zero(bytes.subspan(kV4At, 4));
  return family_of(bytes) == AF_INET || any ? read_v4(call, bytes) : refused(EAFNOSUPPORT);
}

ReadAddress read_connect(const SocketFacts& socket, NetworkCall call, Bytes bytes) {
  if (bytes.size() < kFamilyEnd) {
    return refused(EINVAL);
  }
  const int family = family_of(bytes);
  if (family == AF_UNSPEC) {
    // As a send this is MSG_FASTOPEN, whose AF_UNSPEC tcp_sendmsg_fastopen() refuses.
    return call == NetworkCall::kConnect ? dissolve(bytes) : refused(EOPNOTSUPP);
  }
  const bool as_v4 = socket.family == AF_INET || (socket.type == SOCK_DGRAM && family == AF_INET);
  if (bytes.size() < (as_v4 ? kV4Length : kV6Length)) {
    return refused(EINVAL);
  }
  if (family != (as_v4 ? AF_INET : AF_INET6)) {
    return refused(EAFNOSUPPORT);
  }
  return as_v4 ? read_v4(call, bytes) : read_v6(call, bytes);
}

ReadAddress read_datagram(const SocketFacts& socket, Bytes bytes) {
  const NetworkCall call = NetworkCall::kSend;
  if (socket.family == AF_INET) {
    if (bytes.size() < kV4Length) {
      return refused(EINVAL);
    }
    const int family = family_of(bytes);
    return family == AF_INET || family == AF_UNSPEC ? read_v4(call, bytes) : refused(EAFNOSUPPORT);
  }
  if (bytes.size() < kFamilyEnd) {
    return refused(EINVAL);
  }
  switch (family_of(bytes)) {
    case AF_INET6:
      return bytes.size() < kV6Length ? refused(EINVAL) : read_v6(call, bytes);
    case AF_INET:
      return bytes.size() < kV4Length ? refused(EINVAL) : read_v4(call, bytes);
    case AF_UNSPEC:
      return refused(EAFNOSUPPORT);
    default:
      return refused(EINVAL);
  }
}

}  // namespace

std::string address_text(const InternetAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  ::inet_ntop(address.v6 ? AF_INET6 : AF_INET, address.bytes.data(), buffer.data(), buffer.size());
  return buffer.data();
}

InternetAddress loopback_address(bool v6, std::uint16_t port) {
  InternetAddress address;
  address.v6 = v6;
  address.port = port;
  if (v6) {
    address.bytes.back() = 1;
  } else {
    std::copy(kV4Loopback.begin(), kV4Loopback.end(), address.bytes.begin());
  }
  return address;
}

std::vector<std::uint8_t> spell_address(const InternetAddress& address, bool v6,
                                        std::uint32_t scope) {
  std::vector<std::uint8_t> bytes(v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  if (!v6) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(address.port);
    std::copy_n(address.bytes.begin(), 4, reinterpret_cast<std::uint8_t*>(&name.sin_addr));
    std::memcpy(bytes.data(), &name, sizeof name);
    return bytes;
  }
  sockaddr_in6 name{};
  name.sin6_family = AF_INET6;
  name.sin6_port = htons(address.port);
  name.sin6_scope_id = scope;
  auto* at = name.sin6_addr.s6_addr;
  if (address.v6) {
    std::copy_n(address.bytes.begin(), 16, at);
  } else {
    std::copy_n(address.bytes.begin(), 4,
                std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), at));
  }
  std::memcpy(bytes.data(), &name, sizeof name);
  return bytes;
}

ReadAddress read_address(const SocketFacts& socket, NetworkCall call,
                         std::span<const std::uint8_t> address) {
  const bool internet = socket.family == AF_INET || socket.family == AF_INET6;
  if (!internet || (socket.type != SOCK_STREAM && socket.type != SOCK_DGRAM)) {
    return refused(EAFNOSUPPORT);
  }
  if (address.size() > kMostBytes) {
    return refused(EINVAL);
  }
  if (call == NetworkCall::kBind || call == NetworkCall::kListen) {
    return read_bound(socket.family == AF_INET6, call, address);
  }
  if (call == NetworkCall::kSend && socket.type == SOCK_DGRAM) {
    return read_datagram(socket, address);
  }
  return read_connect(socket, call, address);
}

}  // namespace aasm::backend_native
