#include "aasm/planner/lower.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "lowering.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyState;
using schema::Requirement;
using schema::RuleEffect;
using schema::SelectorType;

std::string_view node_of(Domain domain) {
  switch (domain) {
    case Domain::kFilesystemRead:
      return "filesystem.read";
    case Domain::kFilesystemWrite:
      return "filesystem.write";
    case Domain::kNetworkEgress:
      return "network";
    case Domain::kNameResolution:
      return "name_resolution";
    case Domain::kSyscall:
      return "syscalls";
    case Domain::kProcessCreation:
      return "processes";
    case Domain::kIpc:
      return "ipc";
    case Domain::kCredential:
      return "credentials";
    case Domain::kResource:
      return "resources";
  }
  return "";
}

// True when `operation` may be done to anything: one rule allows the root or every name.
bool open_for(const Requirement& requirement, std::string_view operation) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(), [&](const auto& rule) {
    return rule.operation == operation && rule.effect == RuleEffect::kAllow &&
           (rule.selector.value.bytes() == "/" || rule.selector.value.bytes() == "*");
  });
}

bool has_denial(const Requirement& requirement) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [](const auto& rule) { return rule.effect == RuleEffect::kDeny; });
}

bool has_operation(const Requirement& requirement, std::string_view operation) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const auto& rule) { return rule.operation == operation; });
}

bool permits_everything(const Requirement& requirement) {
  if (has_denial(requirement)) {
    return false;
  }
  switch (requirement.domain) {
    case Domain::kFilesystemRead:
      return open_for(requirement, "read") &&
             (open_for(requirement, "execute") || !has_operation(requirement, "execute"));
    case Domain::kFilesystemWrite:
      return open_for(requirement, "write");
    case Domain::kNameResolution:
      return open_for(requirement, "resolve");
    case Domain::kNetworkEgress:
    case Domain::kSyscall:
    case Domain::kProcessCreation:
    case Domain::kIpc:
    case Domain::kCredential:
    case Domain::kResource:
      return false;
  }
  return false;
}

bool is_execution_capability(std::string_view name) {
  return !name.starts_with("mcp_tool:") && !name.starts_with("model:");
}

}  // namespace

schema::PolicyRule make_rule(std::string id, const std::string& operation, SelectorType type,
                             std::string value, Position at, RuleEffect effect) {
  schema::PolicyRule rule;
  rule.id = std::move(id);
  rule.effect = effect;
  rule.operation = operation;
  rule.selector.type = type;
  rule.selector.value = schema::PathBytes(std::move(value));
  rule.line = at.line;
  rule.column = at.column;
  return rule;
}

std::string indexed(const std::string& node, std::size_t index) {
  return node + "[" + std::to_string(index) + "]";
}

schema::EvidenceWish EvidenceNode::wish(Domain domain) const {
  using schema::EvidenceWish;
  const auto own = domains.find(domain);
  if (own != domains.end()) {
    return own->second;
  }
  // Decisions on writing are none on reading.
  const bool read = domain == Domain::kFilesystemRead && filesystem == EvidenceWish::kDecisions;
  const bool applies = read || domain == Domain::kFilesystemWrite;
  return applies ? filesystem.value_or(EvidenceWish::kSetup) : EvidenceWish::kSetup;
}

LoweredPolicy Lowering::run() {
  filesystem_read();
  filesystem_write();
  note_unused_denials();
  network();
  name_resolution();
  syscalls();
  process_creation();
  ipc();
  credentials();
  resources();
  unstated_domains();
  capabilities_unmapped();
  unmapped_nodes();
  out_.witness = document_.evidence.witness;
  out_.state = state();
  return std::move(out_);
}

std::optional<std::pair<std::string, Position>> Lowering::restricted(
    const std::string& capability) const {
  if (!document_.capabilities) {
    return std::nullopt;
  }
  const auto names = [&](const TextEntry& entry) { return entry.text == capability; };
  if (const std::optional<TextList>& deny = document_.capabilities->deny) {
    const auto found = std::find_if(deny->entries.begin(), deny->entries.end(), names);
    if (found != deny->entries.end()) {
      return std::pair(indexed("capabilities.deny", found->index), found->at);
    }
  }
  if (const std::optional<TextList>& allow = document_.capabilities->allow) {
    // No action of the workload is an agent_spawn of its own: leaving it out says nothing.
    if (capability != "agent_spawn" &&
        std::none_of(allow->entries.begin(), allow->entries.end(), names)) {
      return std::pair(std::string("capabilities.allow"), allow->at);
    }
  }
  return std::nullopt;
}

Requirement& Lowering::begin(Domain domain, const std::string& default_rule,
                             const std::string& node, Position at) {
  Requirement requirement;
  requirement.domain = domain;
  requirement.default_rule = default_rule;
  requirement.evidence = document_.evidence.wish(domain);
  const auto stated = document_.posture.domains.find(domain);
  requirement.posture =
      stated == document_.posture.domains.end() ? document_.posture.fallback : stated->second;
  out_.requirements.push_back(std::move(requirement));
  out_.places.push_back({domain, node, at});
  return out_.requirements.back();
}

void Lowering::gap(std::optional<Domain> domain, const std::string& node, std::string reason) {
  out_.gaps.push_back({domain, node, std::move(reason)});
}

void Lowering::unstated_domains() {
  for (const auto& entry : schema::EnumNames<Domain>::kTokens) {
    const Domain domain = entry.first;
    if (requirement_on(out_.requirements, domain) != nullptr) {
      continue;
    }
    gap(domain, std::string(node_of(domain)),
        "not stated: left open except for what self-protection closes");
    const auto posture = document_.posture.places.find(domain);
    if (posture != document_.posture.places.end()) {
      gap(domain, "posture." + std::string(entry.second),
          "a posture for a domain the policy does not state has no effect");
    }
    if (document_.evidence.places.contains(domain)) {
      gap(domain, "evidence." + std::string(entry.second),
          "evidence for a domain the policy does not state has no effect");
    }
  }
  const auto filesystem = [](const Requirement& requirement) {
    return requirement.domain == Domain::kFilesystemRead ||
           requirement.domain == Domain::kFilesystemWrite;
  };
  if (document_.evidence.filesystem &&
      std::none_of(out_.requirements.begin(), out_.requirements.end(), filesystem)) {
    gap(std::nullopt, "evidence.filesystem",
        "evidence for domains the policy does not state has no effect");
  }
}

void Lowering::capabilities_unmapped() {
  if (!document_.capabilities) {
    return;
  }
  const auto list = [&](const char* node, const std::optional<TextList>& entries) {
    for (const TextEntry& entry : entries ? entries->entries : std::vector<TextEntry>()) {
      if (!is_execution_capability(entry.text)) {
        out_.unmapped.push_back({std::nullopt, indexed(node, entry.index),
                                 entry.text + " is governed by the control plane; it has no "
                                              "execution domain"});
      }
    }
  };
  list("capabilities.allow", document_.capabilities->allow);
  list("capabilities.deny", document_.capabilities->deny);
}

void Lowering::unmapped_nodes() {
  for (const UnmappedNode& node : document_.unmapped) {
    const bool scope = node.key == "scope" || node.key == "version";
    out_.unmapped.push_back({std::nullopt, node.key,
                             scope
                                 ? "names the document and states no control"
                                 : "is governed by the control plane; it has no execution domain"});
  }
}

PolicyState Lowering::state() const {
  if (!out_.requirements.empty()) {
    const bool open =
        std::all_of(out_.requirements.begin(), out_.requirements.end(), permits_everything);
    return open ? PolicyState::kPermissive : PolicyState::kEnforced;
  }
  // A list of capabilities that leaves none of the execution ones out allows everything.
  const bool capabilities_open = document_.capabilities && document_.capabilities->allow;
  return capabilities_open || document_.tools_allow_all ? PolicyState::kPermissive
                                                        : PolicyState::kUnconfigured;
}

const DomainPlace* place_on(const std::vector<DomainPlace>& places, Domain domain) {
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&](const DomainPlace& one) { return one.domain == domain; });
  return found == places.end() ? nullptr : &*found;
}

LoweredPolicy lower_policy(const PolicyDocument& document, const PathResolver& resolve) {
  return Lowering(document, resolve).run();
}

}  // namespace aasm::planner
