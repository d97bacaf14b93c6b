#include "network_judge.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <netinet/in.h>

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Domain;
using schema::Event;
using schema::ObjectType;
using schema::RuleEffect;

constexpr std::string_view kMechanism = "seccomp_user_notification";
constexpr int kTypeMask = 0xf;  // SOCK_TYPE_MASK
constexpr int kMptcp = 262;     // IPPROTO_MPTCP: TCP by another door
// Where lookups go: DNS, DNS over TLS, multicast DNS, LLMNR, NetBIOS names.
constexpr std::array<std::uint16_t, 5> kLookupPorts = {53, 853, 5353, 5355, 137};

std::string_view protocol_of(const SocketFacts& socket) {
  const bool tcp = socket.protocol == IPPROTO_TCP || socket.protocol == kMptcp;
  if (socket.family != AF_INET && socket.family != AF_INET6) {
    return "";
  }
  if (socket.type == SOCK_STREAM) {
    return tcp ? "tcp" : "";
  }
  return socket.type == SOCK_DGRAM && socket.protocol == IPPROTO_UDP ? "udp" : "";
}

template <std::size_t N>
std::string word_or_number(const std::array<std::pair<int, const char*>, N>& words, int number,
                           const char* prefix) {
  for (const auto& [value, word] : words) {
    if (value == number) {
      return word;
    }
  }
  return prefix + std::to_string(number);
}

// "AF_PACKET SOCK_RAW 768": what was asked for, with numbers where there is no common word.
std::string socket_text(const SocketFacts& socket) {
  static constexpr std::array<std::pair<int, const char*>, 7> kFamilies = {{
      {AF_UNIX, "AF_UNIX"},
      {AF_INET, "AF_INET"},
      {AF_INET6, "AF_INET6"},
      {AF_NETLINK, "AF_NETLINK"},
      {AF_PACKET, "AF_PACKET"},
      {AF_VSOCK, "AF_VSOCK"},
      {AF_ALG, "AF_ALG"},
  }};
  static constexpr std::array<std::pair<int, const char*>, 5> kTypes = {{
      {SOCK_STREAM, "SOCK_STREAM"},
      {SOCK_DGRAM, "SOCK_DGRAM"},
      {SOCK_RAW, "SOCK_RAW"},
      {SOCK_SEQPACKET, "SOCK_SEQPACKET"},
      {SOCK_PACKET, "SOCK_PACKET"},
  }};
  return word_or_number(kFamilies, socket.family, "family ") + " " +
         word_or_number(kTypes, socket.type, "type ") + " " + std::to_string(socket.protocol);
}

NetworkVerdict refuse(const NetworkSpec& spec, std::string operation, int os_errno) {
  NetworkVerdict verdict;
  Event& event = verdict.event;
  event.domain = spec.egress_stated ? Domain::kNetworkEgress : Domain::kNameResolution;
  event.operation = std::move(operation);
  event.object.type = ObjectType::kSocket;
  event.outcome = DecisionOutcome::kDenied;
  event.cause = DecisionCause::kPolicy;
  event.rule = spec.egress_stated ? spec.egress_default : spec.names_default;
  event.os_errno = os_errno;
  event.mechanism = kMechanism;
  return verdict;
}

NetworkVerdict refuse_socket(const NetworkSpec& spec, const SocketFacts& socket,
                             std::string operation, int os_errno) {
  NetworkVerdict verdict = refuse(spec, std::move(operation), os_errno);
  verdict.event.object.name = socket_text(socket);
  return verdict;
}

// 0: open.
int internet_errno(const SocketFacts& socket) {
  if (socket.type == SOCK_RAW || socket.type == SOCK_PACKET) {
    return EPERM;  // as without CAP_NET_RAW; SOCK_PACKET is a packet socket whatever its family
  }
  const bool ping = socket.protocol == IPPROTO_ICMP || socket.protocol == IPPROTO_ICMPV6;
  if (socket.type == SOCK_DGRAM && ping) {
    return EACCES;  // as outside net.ipv4.ping_group_range
  }
  SocketFacts opened = socket;
  if (socket.protocol == 0) {
    opened.protocol = socket.type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
  }
  return protocol_of(opened).empty() ? EPROTONOSUPPORT : 0;
}

std::string_view operation_of(NetworkCall call) {
  return call == NetworkCall::kBind || call == NetworkCall::kListen ? "bind" : "connect";
}

void name_address(Event& event, const InternetAddress& address, std::string_view protocol) {
  event.object.type = ObjectType::kAddress;
  event.object.name.clear();
  event.object.address = address_text(address);
  event.object.port = address.port;
  event.object.protocol = protocol;
  event.object.address_class = address_class(address);
}

bool is_lookup(const NetworkSpec& spec, bool bind, const InternetAddress& address) {
  return spec.names_stated && !bind &&
         std::find(kLookupPorts.begin(), kLookupPorts.end(), address.port) != kLookupPorts.end();
}

bool asks_us(const NetworkSpec& spec, const InternetAddress& address) {
  constexpr std::uint16_t kNames = 53;
  return address.port == kNames && spec.answers_names();
}

NetworkVerdict send_to_resolver(const NetworkSpec& spec, const SocketFacts& socket,
                                const ReadAddress& read) {
  NetworkVerdict verdict = not_judged();
  verdict.event.rule = spec.names_default;
  verdict.asked = read.address;
  // Without an address of its own, IPv6 goes by way of the mapped one.
  const bool v6 = read.address.v6 && spec.responder.v6_port != 0;
  verdict.address =
      spell_address(loopback_address(v6, v6 ? spec.responder.v6_port : spec.responder.v4_port),
                    socket.family == AF_INET6);
  return verdict;
}

// The rule by which an address is open that was given out for a name; the name goes into the event.
const NetworkRule* rule_by_name(const NetworkSpec& spec, const InternetAddress& address,
                                std::string_view protocol, Event& event) {
  const NetworkRule* allows = nullptr;
  if (!spec.given) {
    return nullptr;
  }
  for (const std::string& name : spec.given->names_of(address, NameGrants::Clock::now())) {
    const NetworkRule* rule = deciding_rule_by_name(spec, name, address.port, protocol);
    if (rule == nullptr || rule->whole ||
        (allows != nullptr && rule->effect == RuleEffect::kAllow)) {
      continue;
    }
    event.object.name = rule->effect == RuleEffect::kAllow ? name : "";
    allows = rule;
    if (rule->effect == RuleEffect::kDeny) {
      break;
    }
  }
  return allows;
}

// For the record: by which name an address had been given out that policy does not open.
void name_observed(const NetworkSpec& spec, bool bind, const InternetAddress& address,
                   Event& event) {
  if (!spec.observes_names || bind || !spec.given) {
    return;
  }
  const std::vector<std::string> names = spec.given->names_of(address, NameGrants::Clock::now());
  if (!names.empty()) {
    event.object.name = names.front();
  }
}

// getaddrinfo(3) puts addresses in order by connecting datagram sockets to them: at the port that
// it was asked for, 0 without one (glibc, c-ares), or always at the same (musl).
bool asks_for_source(const NetworkSpec& spec, NetworkCall call, const InternetAddress& address,
                     std::string_view protocol) {
  constexpr std::uint16_t kMuslPort = 65535;
  if (call != NetworkCall::kConnect || protocol != "udp" || !spec.given || !spec.egress_stated) {
    return false;
  }
  if (address.port == 0 || address.port == kMuslPort) {
    return !spec.given->names_of(address, NameGrants::Clock::now()).empty();
  }
  Event unused;
  const NetworkRule* rule = rule_by_name(spec, address, "tcp", unused);
  return rule != nullptr && rule->effect == RuleEffect::kAllow;
}

NetworkVerdict tell_source(NetworkVerdict verdict, const InternetAddress& address) {
  verdict.perform = true;
  verdict.source_for = address;
  verdict.event.outcome = DecisionOutcome::kEmulated;
  verdict.event.cause = DecisionCause::kCompat;
  verdict.event.rule = "compat.source_address";
  verdict.event.os_errno = 0;
  return verdict;
}

// A rule that allows the whole does not speak of lookups; one that names a port does.
NetworkVerdict judge_internet(const NetworkSpec& spec, NetworkCall call, const SocketFacts& socket,
                              ReadAddress read) {
  const std::string_view protocol = protocol_of(socket);
  const bool bind = operation_of(call) == "bind";
  const NetworkRule* rule = deciding_rule(spec, bind, read.address, protocol);
  if (!bind && asks_us(spec, read.address) && (rule == nullptr || rule->whole)) {
    return send_to_resolver(spec, socket, read);
  }
  NetworkVerdict verdict = refuse(spec, std::string(operation_of(call)), EACCES);
  name_address(verdict.event, read.address, protocol);
  if (rule == nullptr && !bind) {
    rule = rule_by_name(spec, read.address, protocol, verdict.event);
  }
  if (rule == nullptr && asks_for_source(spec, call, read.address, protocol)) {
    return tell_source(std::move(verdict), read.address);
  }
  const bool denies = rule != nullptr && rule->effect == RuleEffect::kDeny;
  const bool open = spec.egress_stated ? rule != nullptr && !denies : true;
  if (!open) {
    verdict.event.rule = denies ? rule->id : spec.egress_default;
    name_observed(spec, bind, read.address, verdict.event);
    return verdict;
  }
  if (is_lookup(spec, bind, read.address) && (rule == nullptr || rule->whole)) {
    verdict.event.domain = Domain::kNameResolution;
    verdict.event.operation = "resolve";
    verdict.event.rule = spec.names_default;
    return verdict;
  }
  verdict.perform = true;
  verdict.address = std::move(read.bytes);
  verdict.recorded = spec.egress_stated;
  verdict.event.outcome = DecisionOutcome::kAllowed;
  verdict.event.os_errno = 0;
  verdict.event.rule = rule != nullptr ? rule->id : "";
  return verdict;
}

}  // namespace

bool kills(const NetworkSpec& spec, const schema::Event& event) {
  return spec.kill_on_denial && event.domain == Domain::kNetworkEgress &&
         event.outcome == DecisionOutcome::kDenied && event.cause == DecisionCause::kPolicy;
}

NetworkVerdict not_judged(std::span<const std::uint8_t> address) {
  NetworkVerdict verdict;
  verdict.perform = true;
  verdict.recorded = false;
  verdict.event.outcome = DecisionOutcome::kAllowed;
  verdict.event.mechanism = kMechanism;
  verdict.address.assign(address.begin(), address.end());
  return verdict;
}

NetworkVerdict judge_socket(const NetworkSpec& spec, int family, int type, int protocol) {
  const SocketFacts socket{family, type & kTypeMask, protocol};
  if (!spec.judges() || family == AF_UNIX) {
    return not_judged();
  }
  int os_errno = EAFNOSUPPORT;
  if (family == AF_INET || family == AF_INET6) {
    os_errno = internet_errno(socket);
  } else if (family == AF_NETLINK) {
    os_errno = protocol == NETLINK_ROUTE ? 0 : EPROTONOSUPPORT;
  } else if (family == AF_PACKET) {
    os_errno = EPERM;
  }
  return os_errno == 0 ? not_judged() : refuse_socket(spec, socket, "socket", os_errno);
}

bool option_carries_route(int level, int option) {
  // The numbers of linux/in6.h: glibc's headers lack some of them.
  constexpr int k2292RoutingHeader = 5;
  constexpr int k2292PacketOptions = 6;
  constexpr int kFlowLabelManager = 32;
  constexpr int kRoutingHeader = 57;
  if (level == IPPROTO_IP) {
    return option == IP_OPTIONS || option == IP_RETOPTS;
  }
  return level == IPPROTO_IPV6 && (option == k2292RoutingHeader || option == k2292PacketOptions ||
                                   option == kFlowLabelManager || option == kRoutingHeader);
}

NetworkVerdict judge_option(const NetworkSpec& spec, int level, int option) {
  if (!spec.judges() || !option_carries_route(level, option)) {
    return not_judged();
  }
  NetworkVerdict verdict = refuse(spec, "socket", EPERM);
  verdict.event.object.name =
      "option " + std::to_string(option) + " of level " + std::to_string(level);
  return verdict;
}

NetworkVerdict judge_address(const NetworkSpec& spec, NetworkCall call, const SocketFacts& socket,
                             std::span<const std::uint8_t> address) {
  const bool route = socket.family == AF_NETLINK && socket.protocol == NETLINK_ROUTE;
  if (!spec.judges() || route) {
    return not_judged(address);
  }
  const std::string_view protocol = protocol_of(socket);
  if (protocol.empty()) {  // a socket that judge_socket() would not have let be made
    return refuse_socket(spec, socket, std::string(operation_of(call)), EACCES);
  }
  ReadAddress read = read_address(socket, call, address);
  if (read.reading == AddressReading::kDissolve) {
    return not_judged(read.bytes);
  }
  if (read.reading == AddressReading::kRefused) {
    NetworkVerdict verdict =
        refuse_socket(spec, socket, std::string(operation_of(call)), read.os_errno);
    verdict.event.cause = DecisionCause::kFault;
    return verdict;
  }
  return judge_internet(spec, call, socket, std::move(read));
}

NetworkVerdict judge_name(const NetworkSpec& spec, const std::string& name) {
  NetworkVerdict verdict = refuse(spec, "resolve", EACCES);
  Event& event = verdict.event;
  event.domain = Domain::kNameResolution;
  event.mechanism = "resolver";
  event.object.type = ObjectType::kName;
  event.object.name = name;
  const NameRule* rule = deciding_name_rule(spec, name);
  verdict.perform = rule != nullptr && rule->effect == RuleEffect::kAllow;
  event.rule = rule != nullptr ? rule->id : spec.names_default;
  if (verdict.perform) {
    event.outcome = DecisionOutcome::kAllowed;
    event.os_errno = 0;
  }
  return verdict;
}

NetworkVerdict judge_unix(const NetworkSpec& spec, NetworkCall call, const ResolvedSocket& socket) {
  const bool reaches = call == NetworkCall::kConnect || call == NetworkCall::kSend;
  if (!spec.names_stated || !reaches || !socket.abstract_name.empty()) {
    return not_judged();
  }
  const std::vector<std::string>& paths = resolver_paths();
  std::string name;
  if (std::find(paths.begin(), paths.end(), socket.path) != paths.end()) {
    name = socket.path;
  }
  for (const ResolverSocket& known : spec.resolvers) {
    if (name.empty() && known.device == socket.device && known.inode == socket.inode) {
      name = known.path;
    }
  }
  if (name.empty()) {
    return not_judged();
  }
  NetworkVerdict verdict = refuse(spec, "resolve", EACCES);
  verdict.event.domain = Domain::kNameResolution;
  verdict.event.rule = spec.names_default;
  verdict.event.object.name = name;
  return verdict;
}

}  // namespace aasm::backend_native
