// Ways off the host's loopback and on it.

#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "probe.h"

namespace attacks {
namespace {

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

Address address_of(const std::string& host, const std::string& port) {
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.bytes);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  const auto number_of_port = htons(static_cast<unsigned short>(number(port)));
  if (::inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = number_of_port;
    address.size = sizeof *v4;
  } else if (::inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = number_of_port;
    address.size = sizeof *v6;
  }
  return address;
}

const sockaddr* pointer(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.bytes);
}

// TYPE HOST PORT
int connect_to(const Args& args) {
  const Address address = address_of(args[1], args[2]);
  const int type = args[0] == "tcp" ? SOCK_STREAM : SOCK_DGRAM;
  const int fd = ::socket(address.bytes.ss_family, type, 0);
  const int result = result_of(::connect(fd, pointer(address), address.size));
  ::close(fd);
  return result;
}

// CALL HOST PORT: one datagram of one byte.
int send_to(const Args& args) {
  const Address address = address_of(args[1], args[2]);
  const int fd = ::socket(address.bytes.ss_family, SOCK_DGRAM, 0);
  char byte = 'x';
  iovec piece = {&byte, 1};
  mmsghdr message{};
  message.msg_hdr.msg_name = const_cast<sockaddr*>(pointer(address));
  message.msg_hdr.msg_namelen = address.size;
  message.msg_hdr.msg_iov = &piece;
  message.msg_hdr.msg_iovlen = 1;
  if (args[0] == "sendmsg") {
    return result_of(::sendmsg(fd, &message.msg_hdr, 0));
  }
  if (args[0] == "sendmmsg") {
    return result_of(::sendmmsg(fd, &message, 1, 0));
  }
  return result_of(::sendto(fd, &byte, 1, 0, pointer(address), address.size));
}

// HOST PORT: data in the first packet, and no call that is named connect.
int open_fast(const Args& args) {
  const Address address = address_of(args[0], args[1]);
  const int fd = ::socket(address.bytes.ss_family, SOCK_STREAM, 0);
  return result_of(::sendto(fd, "x", 1, MSG_FASTOPEN, pointer(address), address.size));
}

// HOST: at a port of the kernel's choice.
int listen_at(const Args& args) {
  const Address address = address_of(args[0], "0");
  const int fd = ::socket(address.bytes.ss_family, SOCK_STREAM, 0);
  const int bound = result_of(::bind(fd, pointer(address), address.size));
  return bound != 0 ? bound : result_of(::listen(fd, 1));
}

// Without a bind: the kernel would choose address and port.
int listen_unbound(const Args&) {
  return result_of(::listen(::socket(AF_INET, SOCK_STREAM, 0), 1));
}

// FAMILY TYPE PROTOCOL
int open_socket(const Args& args) {
  return result_of(::socket(number(args[0]), number(args[1]), number(args[2])));
}

// Packets go to the address in the option first.
int set_route(const Args&) {
  const unsigned char route[] = {0x83, 0x07, 0x04, 127, 0, 0, 1, 0};  // loose source route
  return result_of(
      ::setsockopt(::socket(AF_INET, SOCK_STREAM, 0), IPPROTO_IP, IP_OPTIONS, route, sizeof route));
}

}  // namespace

const Attempts& network_attempts() {
  static const Attempts attempts = {
      {"connect_to", 3, connect_to},         {"send_to", 3, send_to},
      {"open_fast", 2, open_fast},           {"listen_at", 1, listen_at},
      {"listen_unbound", 0, listen_unbound}, {"open_socket", 3, open_socket},
      {"set_route", 0, set_route},
  };
  return attempts;
}

}  // namespace attacks
