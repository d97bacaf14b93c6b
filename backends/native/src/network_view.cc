#include "network_view.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <netinet/in.h>

#include "aasm/planner/endpoint.h"

#include "lowering.h"
#include "network_judge.h"

namespace aasm::backend_native {
namespace {

using planner::ActionAnswer;
using planner::ActionView;
using planner::Endpoint;
using planner::HostKind;
using schema::Domain;
using schema::Requirement;
using schema::RuleEffect;

ActionView answered(const schema::Event& event, bool perform) {
  ActionView view;
  view.answer = perform ? ActionAnswer::kAllowed : ActionAnswer::kDenied;
  view.mechanism = event.mechanism;
  view.rule = event.rule;
  view.os_errno = static_cast<int>(event.os_errno);
  view.recorded = true;
  return view;
}

std::vector<std::uint8_t> sockaddr_of(const Endpoint& endpoint) {
  sockaddr_storage storage{};
  std::size_t size = sizeof(sockaddr_in);
  if (endpoint.range.v6) {
    auto* address = reinterpret_cast<sockaddr_in6*>(&storage);
    address->sin6_family = AF_INET6;
    address->sin6_port = htons(static_cast<std::uint16_t>(endpoint.port));
    std::memcpy(&address->sin6_addr, endpoint.range.bytes.data(), sizeof address->sin6_addr);
    size = sizeof(sockaddr_in6);
  } else {
    auto* address = reinterpret_cast<sockaddr_in*>(&storage);
    address->sin_family = AF_INET;
    address->sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
    std::memcpy(&address->sin_addr, endpoint.range.bytes.data(), sizeof address->sin_addr);
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&storage);
  return {bytes, bytes + size};
}

ActionView view_address(const NetworkSpec& spec, const Endpoint& endpoint) {
  const int family = endpoint.range.v6 ? AF_INET6 : AF_INET;
  const NetworkVerdict verdict = judge_address(
      spec, NetworkCall::kConnect, {family, SOCK_STREAM, IPPROTO_TCP}, sockaddr_of(endpoint));
  return answered(verdict.event, verdict.perform);
}

bool fits(const NetworkRule& rule, const Endpoint& endpoint) {
  return !rule.bind &&
         (rule.whole || ((rule.endpoint.port == 0 || rule.endpoint.port == endpoint.port) &&
                         rule.endpoint.protocol != "udp"));
}

ActionView view_name(const NetworkSpec& spec, const Endpoint& endpoint) {
  ActionView view;
  view.mechanism = "seccomp_user_notification";
  view.recorded = true;
  bool by_address = false;
  const NetworkRule* open = nullptr;
  for (const NetworkRule& rule : spec.rules) {
    if (rule.effect == RuleEffect::kAllow && fits(rule, endpoint)) {
      by_address = by_address || !rule.whole;
      open = rule.whole || rule.endpoint.kind == HostKind::kAny ? &rule : open;
    }
  }
  if (open != nullptr) {
    view.answer = ActionAnswer::kAllowed;
    view.rule = open->id;
    return view;
  }
  view.answer = ActionAnswer::kDenied;
  view.rule = spec.egress_default;
  view.os_errno = EACCES;
  if (by_address) {
    view.note =
        "it is the address that is judged: a name that a file leads to an allowed one is "
        "reached; ask for the address";
  }
  return view;
}

ActionView view_connect(const NetworkSpec& spec, const std::string& object) {
  const schema::Result<Endpoint> endpoint = planner::parse_host_endpoint(object);
  if (!endpoint) {
    ActionView view;
    view.note = endpoint.error().message();
    return view;
  }
  return endpoint->kind == HostKind::kRange ? view_address(spec, *endpoint)
                                            : view_name(spec, *endpoint);
}

ActionView view_resolve(const NetworkSpec& spec) {
  ActionView view;
  view.answer = ActionAnswer::kDenied;
  view.mechanism = "seccomp_user_notification";
  view.rule = spec.names_default;
  view.os_errno = EACCES;
  view.recorded = true;
  view.note =
      "the ports and sockets of resolvers are closed; what a file of hosts says can be read";
  return view;
}

}  // namespace

ActionView view_network(const std::vector<Requirement>& requirements,
                        const planner::Action& action) {
  const Requirement* egress = requirement_on(requirements, Domain::kNetworkEgress);
  const Requirement* names = requirement_on(requirements, Domain::kNameResolution);
  const schema::Result<NetworkSpec> spec = make_network_spec(egress, names);
  if (!spec) {
    ActionView view;
    view.note = spec.error().message();
    return view;
  }
  if (action.domain == Domain::kNameResolution) {
    return spec->names_stated ? view_resolve(*spec) : ActionView{};
  }
  return spec->egress_stated ? view_connect(*spec, action.object) : ActionView{};
}

}  // namespace aasm::backend_native
