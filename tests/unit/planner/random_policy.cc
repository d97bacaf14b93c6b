#include "random_policy.h"

#include <optional>
#include <utility>

namespace aasm::planner::testing {
namespace {

using schema::Domain;
using Words = std::vector<std::string>;

const Words kPaths = {"/a",   "/a/b", "/a/b/c", "/a/bc", "/a/link", "/b",
                      "/b/c", "/c",   "/none",  "/",     "/a/b/c/d"};
const Words kHosts = {"x:443",  "a.x:443",      "*.x:443",  "*:443",
                      "a.x:80", "10.0.0.1:443", "b.a.x:443"};
const Words kNames = {"x", "a.x", "*.x", "*", "b.a.x"};
const Words kRanges = {"10.0.0.0/8", "10.0.0.0/9", "10.128.0.0/9", "10.0.0.1", "a.x", "fd00::/8"};
const Words kBinds = {"127.0.0.1:80", "127.0.0.1:8080", "*:80"};
const Words kCalls = {"@default", "read", "write", "openat", "ptrace", "@debug"};
const Words kSockets = {"/run/a", "/run/b"};
const Words kVariables = {"PATH", "HOME", "LANG"};
const Words kCapabilities = {"file_read",       "file_write",    "file_delete", "network_outbound",
                             "network_inbound", "terminal_exec", "agent_spawn", "model:x"};
const Words kLimits = {"memory_bytes", "cpu_seconds", "open_files"};

Position place(Dice& dice) {
  return {1 + static_cast<int>(dice.below(50)), 1};
}

TextList text_list(Dice& dice, const Words& words, std::size_t most) {
  TextList list;
  list.at = place(dice);
  for (std::size_t i = dice.below(most + 1); i > 0; --i) {
    list.entries.push_back({dice.of(words), list.entries.size(), place(dice)});
  }
  return list;
}

std::optional<TextList> maybe_list(Dice& dice, const Words& words, std::size_t most = 4) {
  return dice.one_in(3) ? std::nullopt : std::optional(text_list(dice, words, most));
}

NetworkNode network(Dice& dice) {
  NetworkNode node;
  node.at = place(dice);
  node.allowlist = maybe_list(dice, kHosts);
  node.bind = maybe_list(dice, kBinds);
  if (dice.one_in(2)) {
    node.egress.emplace();
    for (std::size_t i = dice.below(3); i > 0; --i) {
      EgressEntry entry;
      entry.host = dice.of(kRanges);
      entry.ports = {443, 80};
      entry.protocol = dice.one_in(3) ? "udp" : "tcp";
      entry.index = node.egress->entries.size();
      node.egress->entries.push_back(std::move(entry));
    }
  }
  return node;
}

void add_small_nodes(Dice& dice, PolicyDocument& document) {
  if (dice.one_in(2)) {
    document.processes.emplace();
    document.processes->max = NumberEntry{1 + static_cast<std::int64_t>(dice.below(9)), 0, {3, 1}};
  }
  if (dice.one_in(2)) {
    document.ipc.emplace();
    document.ipc->unix_sockets = maybe_list(dice, kSockets);
    if (dice.one_in(2)) {
      document.ipc->settings.push_back({"signals=inside", 0, {4, 1}});
    }
  }
  if (dice.one_in(2)) {
    document.credentials.emplace();
    document.credentials->environment = maybe_list(dice, kVariables);
    if (dice.one_in(2)) {
      document.credentials->descriptors.emplace();
      for (std::size_t i = dice.below(4); i > 0; --i) {
        document.credentials->descriptors->entries.push_back(
            {static_cast<std::int64_t>(dice.below(5)), 3 - i, {5, 1}});
      }
    }
  }
  if (dice.one_in(2)) {
    document.resources.emplace();
    for (const std::string& name : kLimits) {
      if (dice.one_in(2)) {
        document.resources->limits.push_back(
            {name, 1 + static_cast<std::int64_t>(dice.below(9)), {6, 1}});
      }
    }
  }
}

schema::DomainCapability random_capability(Dice& dice, Domain domain) {
  schema::DomainCapability one;
  one.domain = domain;
  // Mostly good, so that each check gets its turn to be the one that fails.
  one.support = dice.one_in(6) ? dice.any<schema::Support>() : schema::Support::kFull;
  one.reason = one.support == schema::Support::kUnsupported ? "not here" : "";
  one.mediation = dice.one_in(6) ? dice.any<schema::Mediation>() : schema::Mediation::kEnforce;
  one.timing = dice.one_in(6) ? dice.any<schema::Timing>() : schema::Timing::kPre;
  one.synchrony = dice.one_in(6) ? dice.any<schema::Synchrony>() : schema::Synchrony::kSync;
  one.failure = dice.any<schema::FailurePosture>();
  one.descendants = dice.one_in(6) ? dice.any<schema::DescendantCoverage>()
                                   : schema::DescendantCoverage::kProcessTree;
  for (std::size_t i = dice.below(3); i > 0; --i) {
    one.prerequisites.push_back({"something",
                                 dice.one_in(6) ? dice.any<schema::PrerequisiteStatus>()
                                                : schema::PrerequisiteStatus::kSatisfied,
                                 ""});
  }
  one.channel.mechanism = dice.one_in(2) ? "none" : "channel";
  return one;
}

}  // namespace

PolicyDocument random_document(Dice& dice) {
  PolicyDocument document;
  if (!dice.one_in(5)) {
    document.filesystem.emplace();
    document.filesystem->read = maybe_list(dice, kPaths, 5);
    document.filesystem->write = maybe_list(dice, kPaths, 5);
    document.filesystem->execute = maybe_list(dice, kPaths);
    document.filesystem->deny = maybe_list(dice, kPaths, 3);
    document.filesystem->read_deny = maybe_list(dice, kPaths, 2);
    document.filesystem->write_deny = maybe_list(dice, kPaths, 2);
  }
  if (!dice.one_in(3)) {
    document.network = network(dice);
  }
  if (dice.one_in(3)) {
    document.name_resolution.emplace();
    document.name_resolution->allow = maybe_list(dice, kNames);
  }
  if (!dice.one_in(3)) {
    document.syscalls.emplace();
    document.syscalls->allow = maybe_list(dice, kCalls);
    document.syscalls->deny = maybe_list(dice, kCalls, 2);
  }
  add_small_nodes(dice, document);
  if (dice.one_in(3)) {
    document.capabilities.emplace();
    document.capabilities->allow =
        dice.one_in(2) ? maybe_list(dice, kCapabilities, 8) : std::nullopt;
    document.capabilities->deny = maybe_list(dice, kCapabilities, 2);
  }
  document.posture.fallback = dice.any<schema::RequirementPosture>();
  for (const auto& entry : schema::EnumNames<Domain>::kTokens) {
    if (dice.one_in(3)) {
      document.posture.domains[entry.first] = dice.any<schema::RequirementPosture>();
    }
  }
  document.evidence.filesystem = dice.any<schema::EvidenceWish>();
  document.evidence.domains[dice.any<Domain>()] = schema::EvidenceWish::kDecisions;
  return document;
}

schema::CapabilityProbed random_capabilities(Dice& dice) {
  schema::CapabilityProbed probed;
  probed.backend.id = "random";
  probed.available = true;
  for (const auto& entry : schema::EnumNames<Domain>::kTokens) {
    if (!dice.one_in(8)) {
      probed.domains.push_back(random_capability(dice, entry.first));
    }
  }
  return probed;
}

std::vector<TextList*> allowing_lists(PolicyDocument& document) {
  std::vector<TextList*> lists;
  const auto add = [&](auto& node, auto... members) {
    if (node) {
      (void)std::initializer_list<int>{
          ((*node).*members ? (lists.push_back(&*((*node).*members)), 0) : 0)...};
    }
  };
  add(document.filesystem, &FilesystemNode::read, &FilesystemNode::write, &FilesystemNode::execute);
  add(document.network, &NetworkNode::allowlist, &NetworkNode::bind);
  add(document.name_resolution, &NameResolutionNode::allow);
  add(document.syscalls, &SyscallsNode::allow);
  add(document.ipc, &IpcNode::unix_sockets);
  add(document.credentials, &CredentialsNode::environment);
  add(document.capabilities, &CapabilitiesNode::allow);
  return lists;
}

std::vector<TextList*> denying_lists(PolicyDocument& document) {
  std::vector<TextList*> lists;
  if (document.filesystem) {
    FilesystemNode& files = *document.filesystem;
    for (std::optional<TextList>* list : {&files.deny, &files.read_deny, &files.write_deny}) {
      if (*list) {
        lists.push_back(&**list);
      }
    }
  }
  if (document.syscalls && document.syscalls->deny) {
    lists.push_back(&*document.syscalls->deny);
  }
  if (document.capabilities && document.capabilities->deny) {
    lists.push_back(&*document.capabilities->deny);
  }
  return lists;
}

void deny_something(Dice& dice, PolicyDocument& document) {
  const auto add = [&](std::optional<TextList>& list, const Words& words) {
    if (!list) {
      list.emplace();
    }
    list->entries.push_back({dice.of(words), list->entries.size(), place(dice)});
  };
  switch (dice.below(3)) {
    case 0:
      if (document.filesystem) {
        add(document.filesystem->deny, kPaths);
        return;
      }
      break;
    case 1:
      if (document.syscalls) {
        add(document.syscalls->deny, kCalls);
        return;
      }
      break;
    default:
      break;
  }
  if (!document.capabilities) {
    document.capabilities.emplace();
  }
  add(document.capabilities->deny, kCapabilities);
}

}  // namespace aasm::planner::testing
