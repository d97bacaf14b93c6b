#include "network_view.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

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

// Of a denial that kills the caller.
ActionView killing(ActionView view) {
  view.os_errno = 0;
  view.note += std::string(view.note.empty() ? "" : "; ") + "the caller is killed";
  return view;
}

bool is_datagram(const Endpoint& endpoint) {
  return endpoint.protocol == "udp";
}

constexpr const char* kToOurResolver =
    "what is sent there reaches the supervisor's own resolver, which judges each name";

ActionView view_address(const NetworkSpec& spec, const Endpoint& endpoint) {
  const InternetAddress address{endpoint.range.v6, endpoint.range.bytes,
                                static_cast<std::uint16_t>(endpoint.port)};
  const int family = address.v6 ? AF_INET6 : AF_INET;
  const SocketFacts stream{family, SOCK_STREAM, IPPROTO_TCP};
  const SocketFacts datagrams{family, SOCK_DGRAM, IPPROTO_UDP};
  const bool sends = is_datagram(endpoint);
  const NetworkVerdict verdict =
      judge_address(spec, sends ? NetworkCall::kSend : NetworkCall::kConnect,
                    sends ? datagrams : stream, spell_address(address, address.v6));
  ActionView view = answered(verdict.event, verdict.perform);
  if (verdict.asked) {
    view.recorded = false;
    view.mechanism = "resolver";
    view.note = kToOurResolver;
  }
  // Not a lookup that name_resolution refuses.
  return !verdict.perform && kills(spec, verdict.event) ? killing(std::move(view)) : view;
}

bool fits(const NetworkRule& rule, const Endpoint& endpoint) {
  return !rule.bind &&
         (rule.whole || ((rule.endpoint.port == 0 || rule.endpoint.port == endpoint.port) &&
                         rule.endpoint.protocol != (is_datagram(endpoint) ? "tcp" : "udp")));
}

constexpr const char* kByAnswer =
    "it depends on the answer: of the addresses that the supervisor's resolver gives out for the "
    "name, the public ones that are not this host's are reached; any other only where egress "
    "allows "
    "the address itself";
constexpr const char* kByAddress =
    "it is the address that is judged: a name that a file leads to an allowed one is reached; ask "
    "for the address";
constexpr const char* kNotLookedUp =
    "the name may not be looked up, so no address is known to be its";

// By an address, whatever name leads to it: a rule of every address, or of ranges.
const NetworkRule* open_to_all(const NetworkSpec& spec, const Endpoint& endpoint, bool* ranges) {
  const NetworkRule* open = nullptr;
  for (const NetworkRule& rule : spec.rules) {
    if (rule.effect == RuleEffect::kAllow && fits(rule, endpoint)) {
      *ranges = *ranges || (!rule.whole && rule.endpoint.kind == HostKind::kRange);
      open = rule.whole || rule.endpoint.kind == HostKind::kAny ? &rule : open;
    }
  }
  return open;
}

ActionView view_resolve(const NetworkSpec& spec, const std::string& name) {
  const NetworkVerdict verdict = judge_name(spec, name);
  ActionView view = answered(verdict.event, verdict.perform);
  if (!spec.answers_names()) {
    view.mechanism = "seccomp_user_notification";
    view.note =
        "the ports and sockets of resolvers are closed; what a file of hosts says can be read";
  } else if (verdict.perform) {
    view.note = "the supervisor's resolver asks the host's file of hosts and its name servers";
  } else {
    view.note =
        "the supervisor's resolver says that there is no such name, and asks nobody; what a file "
        "of "
        "hosts says can be read";
  }
  return view;
}

ActionView view_name(const NetworkSpec& spec, const Endpoint& endpoint) {
  ActionView view;
  view.mechanism = "seccomp_user_notification";
  view.recorded = true;
  view.answer = ActionAnswer::kAllowed;
  bool ranges = false;
  if (const NetworkRule* open = open_to_all(spec, endpoint, &ranges)) {
    view.rule = open->id;
    return view;
  }
  const NetworkRule* named =
      deciding_rule_by_name(spec, endpoint.name, static_cast<std::uint16_t>(endpoint.port),
                            is_datagram(endpoint) ? "udp" : "tcp");
  const bool open = named != nullptr && named->effect == RuleEffect::kAllow;
  if (open) {
    ActionView lookup = view_resolve(spec, endpoint.name);
    const bool may_be = lookup.answer == ActionAnswer::kAllowed;
    view.rule = named->id;
    view.note = may_be ? kByAnswer : kNotLookedUp;
    lookup.note = view.note;
    return may_be ? view : lookup;
  }
  view.answer = ActionAnswer::kDenied;
  view.rule = named != nullptr ? named->id : spec.egress_default;
  view.os_errno = EACCES;
  view.note = ranges ? kByAddress : "";
  return spec.kill_on_denial ? killing(std::move(view)) : view;
}

ActionView view_connect(const NetworkSpec& spec, const std::string& object) {
  const schema::Result<Endpoint> endpoint = object.ends_with("/udp")
                                                ? planner::parse_range_endpoint(object)
                                                : planner::parse_host_endpoint(object);
  if (!endpoint) {
    ActionView view;
    view.note = endpoint.error().message();
    return view;
  }
  return endpoint->kind == HostKind::kRange ? view_address(spec, *endpoint)
                                            : view_name(spec, *endpoint);
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
    return spec->names_stated ? view_resolve(*spec, action.object) : ActionView{};
  }
  return spec->egress_stated ? view_connect(*spec, action.object) : ActionView{};
}

}  // namespace aasm::backend_native
