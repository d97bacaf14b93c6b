#include "network_spec.h"

#include <algorithm>
#include <utility>

#include "rule_obstacle.h"

namespace aasm::backend_native {
namespace {

using planner::Endpoint;
using planner::HostKind;
using schema::Error;
using schema::ErrorCode;
using schema::PolicyRule;
using schema::Requirement;
using schema::Result;
using schema::RuleEffect;
using schema::SelectorType;

Result<Endpoint> parse_endpoint(const PolicyRule& rule) {
  const std::string& text = rule.selector.value.bytes();
  switch (rule.selector.type) {
    case SelectorType::kAddressRange:
      return planner::parse_range_endpoint(text);
    case SelectorType::kHostPattern: {
      Endpoint endpoint = AASM_TRY(planner::parse_host_endpoint(text));
      endpoint.protocol = "tcp";  // what a host of the allowlist is used for
      return endpoint;
    }
    case SelectorType::kPort:
      return planner::parse_host_endpoint(text);
    case SelectorType::kWhole:
    case SelectorType::kPathPrefix:
    case SelectorType::kSyscall:
    case SelectorType::kEnvironmentName:
    case SelectorType::kDescriptor:
    case SelectorType::kSocketPath:
    case SelectorType::kLimit:
      break;
  }
  return Error(ErrorCode::kUnsupported, "selector " +
                                            std::string(schema::token(rule.selector.type)) +
                                            " is no address, range or port");
}

Result<NetworkRule> make_rule(const PolicyRule& rule) {
  NetworkRule made;
  made.id = rule.id;
  made.effect = rule.effect;
  made.bind = rule.operation == "bind";
  if (!made.bind && rule.operation != "connect") {
    return obstacle(rule, "operation " + rule.operation + " is not known to aasm-native");
  }
  made.whole = rule.selector.type == SelectorType::kWhole;
  if (made.whole) {
    return made;
  }
  Result<Endpoint> endpoint = parse_endpoint(rule);
  if (!endpoint) {
    return obstacle(rule, endpoint.error().message());
  }
  if (endpoint->kind == HostKind::kName && is_localhost(endpoint->name)) {
    return obstacle(rule,
                    rule.selector.value.display() +
                        " stands for loopback, which no name opens; write 127.0.0.1 or [::1]");
  }
  made.endpoint = std::move(*endpoint);
  return made;
}

Result<void> add_egress(const Requirement& egress, NetworkSpec& spec) {
  spec.egress_stated = true;
  spec.egress_default = egress.default_rule;
  for (const PolicyRule& rule : egress.rules) {
    spec.rules.push_back(AASM_TRY(make_rule(rule)));
  }
  return {};
}

Result<void> add_names(const Requirement& names, NetworkSpec& spec) {
  spec.names_stated = true;
  spec.names_default = names.default_rule;
  for (const PolicyRule& rule : names.rules) {
    const bool whole = rule.selector.type == SelectorType::kWhole;
    if (rule.operation != "resolve" ||
        !(whole || rule.selector.type == SelectorType::kHostPattern)) {
      return obstacle(rule, "is no pattern of names to look up");
    }
    NameRule made{rule.id, rule.effect, {}};
    if (!whole) {
      Result<Endpoint> pattern = planner::parse_host_endpoint(rule.selector.value.bytes());
      if (!pattern || pattern->kind == HostKind::kRange) {
        return obstacle(rule, rule.selector.value.display() + " is no name");
      }
      made.pattern = std::move(*pattern);
    }
    spec.name_rules.push_back(std::move(made));
  }
  return {};
}

bool covers(const NetworkRule& rule, const Endpoint& one) {
  return rule.whole || planner::endpoint_contains(rule.endpoint, one);
}

bool covers(const NameRule& rule, const Endpoint& one) {
  return planner::endpoint_contains(rule.pattern, one);
}

bool narrower(const NetworkRule& one, const NetworkRule& other) {
  return other.whole || (!one.whole && planner::endpoint_contains(other.endpoint, one.endpoint));
}

bool narrower(const NameRule& one, const NameRule& other) {
  return planner::endpoint_contains(other.pattern, one.pattern);
}

// Deny outranks allow; of one effect the narrowest.
template <class Rule, class Applies>
const Rule* decide(const std::vector<Rule>& rules, const Endpoint& one, const Applies& applies) {
  const Rule* decides = nullptr;
  for (const Rule& rule : rules) {
    if (!applies(rule) || !covers(rule, one)) {
      continue;
    }
    const bool outranks = decides == nullptr ||
                          (rule.effect == RuleEffect::kDeny && decides->effect != rule.effect) ||
                          (rule.effect == decides->effect && narrower(rule, *decides));
    if (outranks) {
      decides = &rule;
    }
  }
  return decides;
}

}  // namespace

Result<NetworkSpec> make_network_spec(const Requirement* egress, const Requirement* names) {
  NetworkSpec spec;
  if (egress != nullptr) {
    AASM_TRY(add_egress(*egress, spec));
    spec.kill_on_denial = egress->on_denial.has_value();
  }
  if (names != nullptr) {
    AASM_TRY(add_names(*names, spec));
  }
  return spec;
}

const NetworkRule* deciding_rule(const NetworkSpec& spec, bool bind, const InternetAddress& address,
                                 std::string_view protocol) {
  Endpoint one;
  one.kind = HostKind::kRange;
  one.range = {address.v6, address.bytes, address.v6 ? 128 : 32};
  one.port = address.port;
  one.protocol = protocol;
  return decide(spec.rules, one, [bind](const NetworkRule& rule) { return rule.bind == bind; });
}

const NetworkRule* deciding_rule_by_name(const NetworkSpec& spec, const std::string& name,
                                         std::uint16_t port, std::string_view protocol) {
  Endpoint one;
  one.kind = HostKind::kName;
  one.name = name;
  one.port = port;
  one.protocol = protocol;
  return decide(spec.rules, one, [](const NetworkRule& rule) { return !rule.bind; });
}

const NameRule* deciding_name_rule(const NetworkSpec& spec, const std::string& name) {
  Endpoint one;
  one.kind = HostKind::kName;
  one.name = name;
  return decide(spec.name_rules, one, [](const NameRule& /*rule*/) { return true; });
}

bool NetworkSpec::answers_names() const {
  return observes_names ||
         std::any_of(name_rules.begin(), name_rules.end(),
                     [](const NameRule& rule) { return rule.effect == RuleEffect::kAllow; });
}

bool is_localhost(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost");
}

const std::vector<std::string>& resolver_paths() {
  static const std::vector<std::string> paths = {
      "/run/nscd/socket",
      "/run/systemd/resolve/io.systemd.Resolve",
      "/run/systemd/resolve/io.systemd.Resolve.Monitor",
      "/run/dbus/system_bus_socket",
      "/run/avahi-daemon/socket",
      "/run/nslcd/socket",
      "/run/samba/winbindd/pipe",
      "/run/unscd/socket",
      "/var/lib/sss/pipes/nss",
  };
  return paths;
}

}  // namespace aasm::backend_native
