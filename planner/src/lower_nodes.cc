#include <algorithm>
#include <utility>

#include "aasm/planner/endpoint.h"

#include "lowering.h"
#include "shapes.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::Requirement;
using schema::RuleEffect;
using schema::SelectorType;

void add_rules(Requirement& requirement, const std::optional<TextList>& list,
               const std::string& node, const std::string& operation, SelectorType type,
               RuleEffect effect = RuleEffect::kAllow) {
  if (!list) {
    return;
  }
  for (const TextEntry& entry : list->entries) {
    requirement.rules.push_back(
        make_rule(indexed(node, entry.index), operation, type, entry.text, entry.at, effect));
  }
}

bool names_a_host(const std::string& host) {
  return host_name_pattern(host).has_value() &&
         std::any_of(host.begin(), host.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// An address of the allowlist is not looked up.
bool is_an_address(const std::string& host_and_port) {
  const schema::Result<Endpoint> endpoint = parse_host_endpoint(host_and_port);
  return endpoint && endpoint->kind == HostKind::kRange;
}

}  // namespace

void Lowering::syscalls() {
  if (!document_.syscalls || !document_.syscalls->allow) {
    return;
  }
  const SyscallsNode& node = *document_.syscalls;
  Requirement& requirement =
      begin(Domain::kSyscall, "syscalls.allow", "syscalls.allow", node.allow->at);
  add_rules(requirement, node.allow, "syscalls.allow", "call", SelectorType::kSyscall);
  add_rules(requirement, node.deny, "syscalls.deny", "call", SelectorType::kSyscall,
            RuleEffect::kDeny);
  out_.on_denial = node.on_denial;
}

void Lowering::credentials() {
  if (!document_.credentials) {
    return;
  }
  const CredentialsNode& node = *document_.credentials;
  const std::string environment = "credentials.environment.allow";
  const std::string descriptors = "credentials.descriptors.allow";
  if (!node.environment && !node.descriptors) {
    return;
  }
  const std::string& first = node.environment ? environment : descriptors;
  Requirement& requirement = begin(Domain::kCredential, first, first,
                                   node.environment ? node.environment->at : node.descriptors->at);
  add_rules(requirement, node.environment, environment, "inherit", SelectorType::kEnvironmentName);
  if (node.environment) {
    out_.credentials.environment.emplace();
    for (const TextEntry& entry : node.environment->entries) {
      out_.credentials.environment->push_back(entry.text);
    }
  } else {
    gap(Domain::kCredential, "credentials.environment", "not stated: the environment passes whole");
  }
  if (!node.descriptors) {
    gap(Domain::kCredential, "credentials.descriptors",
        "not stated: descriptors 0, 1 and 2 stay open and no other");
    return;
  }
  out_.credentials.descriptors.emplace();
  for (const NumberEntry& entry : node.descriptors->entries) {
    requirement.rules.push_back(make_rule(indexed(descriptors, entry.index), "inherit",
                                          SelectorType::kDescriptor, std::to_string(entry.value),
                                          entry.at));
    out_.credentials.descriptors->push_back(static_cast<int>(entry.value));
  }
}

void Lowering::network() {
  const std::optional<NetworkNode>& node = document_.network;
  const bool stated = node && (node->allowlist || node->egress || node->bind);
  if (const auto by = restricted("network_outbound")) {
    begin(Domain::kNetworkEgress, by->first, by->first, by->second);
    if (stated) {
      gap(Domain::kNetworkEgress, "network",
          "outranked by " + by->first + ": nothing is reachable");
    }
    return;
  }
  const auto inbound = restricted("network_inbound");
  if (!stated && !inbound) {
    return;
  }
  const std::string first = !stated           ? inbound->first
                            : node->allowlist ? "network.allowlist"
                            : node->egress    ? "network.egress"
                                              : "network.bind.allow";
  Requirement& requirement =
      begin(Domain::kNetworkEgress, first, first, stated ? node->at : inbound->second);
  if (inbound) {
    requirement.rules.push_back(make_rule(inbound->first, "bind", SelectorType::kWhole, "",
                                          inbound->second, RuleEffect::kDeny));
  }
  // Connecting and binding are one domain; the half that is not stated stays open.
  const Position at = stated ? node->at : inbound->second;
  if (!stated || !(node->allowlist || node->egress)) {
    requirement.rules.push_back(make_rule("network", "connect", SelectorType::kWhole, "", at));
  }
  if (!inbound && !node->bind) {
    requirement.rules.push_back(make_rule("network.bind", "bind", SelectorType::kWhole, "", at));
  }
  if (!stated) {
    return;
  }
  if (node->kills) {
    requirement.on_denial = "kill";
  }
  add_rules(requirement, node->allowlist, "network.allowlist", "connect",
            SelectorType::kHostPattern);
  add_rules(requirement, node->bind, "network.bind.allow", "bind", SelectorType::kPort);
  for (const EgressEntry& entry :
       node->egress ? node->egress->entries : std::vector<EgressEntry>()) {
    for (std::size_t i = 0; i < entry.ports.size(); ++i) {
      requirement.rules.push_back(make_rule(
          indexed(indexed("network.egress", entry.index) + ".ports", i), "connect",
          SelectorType::kAddressRange,
          entry.host + ":" + std::to_string(entry.ports[i]) + "/" + entry.protocol, entry.at));
    }
  }
}

void Lowering::name_resolution() {
  if (document_.name_resolution && document_.name_resolution->allow) {
    const TextList& allow = *document_.name_resolution->allow;
    Requirement& requirement =
        begin(Domain::kNameResolution, "name_resolution.allow", "name_resolution.allow", allow.at);
    add_rules(requirement, allow, "name_resolution.allow", "resolve", SelectorType::kHostPattern);
    return;
  }
  if (const auto by = restricted("network_outbound")) {
    // A question to a name server goes out as well.
    begin(Domain::kNameResolution, by->first, by->first, by->second);
    return;
  }
  const std::optional<NetworkNode>& node = document_.network;
  if (!node || !(node->allowlist || node->egress)) {
    return;
  }
  // Not stated: the hosts of `network` may be looked up.
  const std::string first = node->allowlist ? "network.allowlist" : "network.egress";
  Requirement& requirement = begin(Domain::kNameResolution, first, first, node->at);
  for (const TextEntry& entry :
       node->allowlist ? node->allowlist->entries : std::vector<TextEntry>()) {
    if (!is_an_address(entry.text)) {
      requirement.rules.push_back(make_rule(indexed("network.allowlist", entry.index), "resolve",
                                            SelectorType::kHostPattern,
                                            entry.text.substr(0, entry.text.rfind(':')), entry.at));
    }
  }
  for (const EgressEntry& entry :
       node->egress ? node->egress->entries : std::vector<EgressEntry>()) {
    if (names_a_host(entry.host)) {
      requirement.rules.push_back(make_rule(indexed("network.egress", entry.index), "resolve",
                                            SelectorType::kHostPattern, entry.host, entry.at));
    }
  }
}

void Lowering::process_creation() {
  auto by = restricted("terminal_exec");
  if (!by) {
    by = restricted("agent_spawn");
  }
  const bool stated = document_.processes && document_.processes->max;
  if (by) {
    begin(Domain::kProcessCreation, by->first, by->first, by->second);
    if (stated) {
      gap(Domain::kProcessCreation, "processes.max",
          "outranked by " + by->first + ": no process may be created");
    }
    return;
  }
  if (!stated) {
    return;
  }
  const NumberEntry& max = *document_.processes->max;
  Requirement& requirement =
      begin(Domain::kProcessCreation, "processes.max", "processes.max", max.at);
  requirement.rules.push_back(make_rule("processes.max", "create", SelectorType::kLimit,
                                        std::to_string(max.value), max.at));
}

void Lowering::ipc() {
  if (!document_.ipc || (!document_.ipc->unix_sockets && document_.ipc->settings.empty())) {
    return;
  }
  const IpcNode& node = *document_.ipc;
  const std::string sockets = "ipc.unix_sockets.allow";
  const std::string first = node.unix_sockets ? sockets : "ipc";
  Requirement& requirement = begin(Domain::kIpc, first, first, node.at);
  add_rules(requirement, node.unix_sockets, sockets, "connect", SelectorType::kSocketPath);
  if (!node.unix_sockets) {  // the part that is not stated stays open
    requirement.rules.push_back(
        make_rule("ipc.unix_sockets", "connect", SelectorType::kWhole, "", node.at));
  }
  for (const TextEntry& setting : node.settings) {
    const std::string key = setting.text.substr(0, setting.text.find('='));
    requirement.rules.push_back(make_rule("ipc." + key, key, SelectorType::kLimit,
                                          setting.text.substr(key.size() + 1), setting.at,
                                          RuleEffect::kDeny));
  }
}

void Lowering::resources() {
  if (!document_.resources || document_.resources->limits.empty()) {
    return;
  }
  Requirement& requirement =
      begin(Domain::kResource, "resources", "resources", document_.resources->at);
  for (const LimitEntry& limit : document_.resources->limits) {
    requirement.rules.push_back(make_rule("resources." + limit.name, limit.name,
                                          SelectorType::kLimit, std::to_string(limit.value),
                                          limit.at));
  }
}

}  // namespace aasm::planner
