#include "network_canary.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <utility>
#include <vector>

#include <netinet/in.h>

#include "network_judge.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;

std::string loopback(std::uint32_t host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host);
  address.sin_port = htons(port);
  return {reinterpret_cast<const char*>(&address), sizeof address};
}

bool denied_by(const NetworkSpec& spec, const SocketCanary& canary) {
  const bool stream = canary.type == SOCK_STREAM;
  const SocketFacts socket{AF_INET, canary.type, stream ? IPPROTO_TCP : IPPROTO_UDP};
  const NetworkVerdict verdict = judge_address(
      spec, NetworkCall::kConnect, socket,
      {reinterpret_cast<const std::uint8_t*>(canary.address.data()), canary.address.size()});
  // A lookup that cannot leave by the rules on egress is closed as well.
  const bool speaks =
      verdict.event.domain == canary.domain || canary.domain == Domain::kNameResolution;
  return !verdict.perform && speaks && verdict.event.os_errno == EACCES;
}

SocketCanary connect_canary(Domain domain, std::string action, int type, std::string address) {
  SocketCanary canary;
  canary.id = std::string(schema::token(domain)) + ".connect";
  canary.domain = domain;
  canary.step = "seccomp";
  canary.action = std::move(action);
  canary.type = type;
  canary.number = SYS_connect;
  canary.address = std::move(address);
  canary.reported = true;
  return canary;
}

}  // namespace

std::optional<SocketCanary> denied_socket_call(const NetworkSpec& spec, Domain domain,
                                               const std::string& listener) {
  constexpr std::uint16_t kDiscard = 9;
  constexpr std::uint16_t kNames = 53;
  constexpr std::uint16_t kMulticastNames = 5353;
  constexpr std::uint32_t kDocumentation = 0xC0000201;  // 192.0.2.1, of nobody
  std::vector<SocketCanary> candidates;
  if (domain == Domain::kNetworkEgress && !listener.empty()) {
    candidates.push_back(connect_canary(
        domain, "connect(TCP, a listener of the supervisor on loopback)", SOCK_STREAM, listener));
  }
  // Where names are answered, what asks at port 53 is led to the resolver.
  const std::vector<std::uint16_t> ports = domain == Domain::kNameResolution
                                               ? std::vector<std::uint16_t>{kNames, kMulticastNames}
                                               : std::vector<std::uint16_t>{kDiscard};
  for (const std::uint16_t port : ports) {
    const std::string ending = ":" + std::to_string(port) + ")";
    candidates.push_back(connect_canary(domain, "connect(UDP, 127.0.0.1" + ending, SOCK_DGRAM,
                                        loopback(INADDR_LOOPBACK, port)));
    candidates.push_back(connect_canary(domain, "connect(UDP, 192.0.2.1" + ending, SOCK_DGRAM,
                                        loopback(kDocumentation, port)));
  }
  for (SocketCanary& candidate : candidates) {
    if (denied_by(spec, candidate)) {
      return std::move(candidate);
    }
  }
  return std::nullopt;
}

SocketCanary floor_socket_call() {
  SocketCanary canary;
  canary.id = "network_egress.floor";
  canary.domain = Domain::kNetworkEgress;
  canary.step = "landlock_inner";
  canary.action = "bind(TCP, 127.0.0.1:0) as if it were not judged";
  canary.type = SOCK_STREAM;
  canary.number = SYS_bind;
  canary.address = loopback(INADDR_LOOPBACK, 0);
  return canary;
}

}  // namespace aasm::backend_native
