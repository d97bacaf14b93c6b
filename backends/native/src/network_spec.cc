#include "network_spec.h"

#include <algorithm>
#include <utility>

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

Error obstacle(const PolicyRule& rule, const std::string& why) {
  return Error(ErrorCode::kUnsupported, "rule " + rule.id + ": " + why);
}

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
  if (endpoint->kind == HostKind::kName || endpoint->kind == HostKind::kSuffix) {
    return obstacle(rule, rule.selector.value.display() +
                              " is a name, and answering lookups is not built yet: an address "
                              "cannot be told to be that of a name");
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
    if (rule.effect == RuleEffect::kAllow) {
      return obstacle(rule,
                      "a name may be looked up, and answering lookups is not built yet; "
                      "`name_resolution: {allow: []}` closes it, and addresses stand in "
                      "`network.egress`");
    }
  }
  return {};
}

bool covers(const NetworkRule& rule, const Endpoint& one) {
  return rule.whole || planner::endpoint_contains(rule.endpoint, one);
}

bool narrower(const NetworkRule& one, const NetworkRule& other) {
  return other.whole || (!one.whole && planner::endpoint_contains(other.endpoint, one.endpoint));
}

}  // namespace

Result<NetworkSpec> make_network_spec(const Requirement* egress, const Requirement* names) {
  NetworkSpec spec;
  if (egress != nullptr) {
    AASM_TRY(add_egress(*egress, spec));
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
  const NetworkRule* decides = nullptr;
  for (const NetworkRule& rule : spec.rules) {
    if (rule.bind != bind || !covers(rule, one)) {
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
