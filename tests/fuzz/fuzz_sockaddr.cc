#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "network_judge.h"

// The first two bytes choose socket and call; the others are what a workload says is an
// address. Whatever they are: nothing outside them is read, an address that was judged is the one
// the call is then made with, and only the allowed address is reached.
namespace {

using namespace aasm;
using namespace aasm::backend_native;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

schema::Requirement only_loopback() {
  schema::Requirement requirement;
  requirement.domain = schema::Domain::kNetworkEgress;
  requirement.default_rule = "network.allowlist";
  for (const char* text : {"127.0.0.1:80/tcp", "127.0.0.1:80/udp"}) {
    schema::PolicyRule rule;
    rule.id = text;
    rule.operation = "connect";
    rule.selector = {schema::SelectorType::kAddressRange, schema::PathBytes(text)};
    requirement.rules.push_back(rule);
  }
  return requirement;
}

void check_reading(const SocketFacts& socket, NetworkCall call,
                   std::span<const std::uint8_t> address) {
  const ReadAddress read = read_address(socket, call, address);
  if (read.reading != AddressReading::kAddress) {
    require(read.bytes.empty() == (read.reading == AddressReading::kRefused));
    require((read.os_errno != 0) == (read.reading == AddressReading::kRefused));
    return;
  }
  require(read.bytes.size() == address.size());
  const ReadAddress again = read_address(socket, call, read.bytes);
  require(again.reading == read.reading && again.address == read.address &&
          again.bytes == read.bytes);
  InternetAddress parsed;
  const int family = read.address.v6 ? AF_INET6 : AF_INET;
  require(::inet_pton(family, address_text(read.address).c_str(), parsed.bytes.data()) == 1);
  require(parsed.bytes == read.address.bytes);
}

void check_verdict(const NetworkVerdict& verdict) {
  require(verdict.perform == (verdict.event.outcome == schema::DecisionOutcome::kAllowed));
  require(verdict.perform || verdict.event.os_errno > 0);
  require(verdict.event.object.check().has_value());
  if (verdict.perform && verdict.recorded) {
    require(verdict.event.object.address == "127.0.0.1" && verdict.event.object.port == 80);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const schema::Requirement requirement = only_loopback();
  static const NetworkSpec spec = make_network_spec(&requirement, nullptr).value();
  constexpr std::array<SocketFacts, 8> kSockets = {{{AF_INET, SOCK_STREAM, IPPROTO_TCP},
                                                    {AF_INET6, SOCK_STREAM, IPPROTO_TCP},
                                                    {AF_INET, SOCK_DGRAM, IPPROTO_UDP},
                                                    {AF_INET6, SOCK_DGRAM, IPPROTO_UDP},
                                                    {AF_INET6, SOCK_STREAM, 262},
                                                    {AF_INET, SOCK_RAW, IPPROTO_RAW},
                                                    {AF_NETLINK, SOCK_RAW, 9},
                                                    {AF_PACKET, SOCK_RAW, 768}}};
  constexpr std::array<NetworkCall, 4> kCalls = {NetworkCall::kConnect, NetworkCall::kBind,
                                                 NetworkCall::kListen, NetworkCall::kSend};
  if (size < 2) {
    return 0;
  }
  const SocketFacts& socket = kSockets.at(data[0] % kSockets.size());
  const NetworkCall call = kCalls.at(data[1] % kCalls.size());
  const std::span<const std::uint8_t> address(data + 2, size - 2);
  check_reading(socket, call, address);
  check_verdict(judge_address(spec, call, socket, address));
  if (address.size() >= 3) {
    check_verdict(judge_socket(spec, address[0], address[1], address[2]));
  }
  return 0;
}
