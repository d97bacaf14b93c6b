#include "lowering.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "aasm/planner/paths.h"

#include "ipc_spec.h"
#include "network_spec.h"
#include "observing.h"
#include "process_limits.h"
#include "ruleset.h"
#include "syscall_groups.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::DomainCapability;
using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;
using schema::SelectorType;

// Whether one path is the other or lies above it, by components.
bool overlap(const PolicyRule& one, const PolicyRule& other) {
  const std::string& a = one.selector.value.bytes();
  const std::string& b = other.selector.value.bytes();
  return planner::path_covers(a, b) || planner::path_covers(b, a);
}

const PolicyRule* grant_beneath(const Requirement& requirement, const PolicyRule& deny,
                                std::string_view operation) {
  const auto found =
      std::find_if(requirement.rules.begin(), requirement.rules.end(), [&](const PolicyRule& rule) {
        return rule.effect == RuleEffect::kAllow && rule.operation == operation &&
               overlap(deny, rule);
      });
  return found == requirement.rules.end() ? nullptr : &*found;
}

// The broker opens and changes files in the caller's place, so of reading and writing a part can be
// denied; nobody can execute a file in its place (docs/decisions/0020).
std::optional<std::string> denial_obstacle(const Requirement& requirement, const PolicyRule& deny) {
  const bool follows = deny.operation == "read" && !states_execution(requirement);
  const PolicyRule* executes = deny.operation == "execute" || follows
                                   ? grant_beneath(requirement, deny, follows ? "read" : "execute")
                                   : nullptr;
  if (executes != nullptr) {
    return "rule " + deny.id + " denies a part of what " + executes->id +
           (follows ? " lets execute, since filesystem.execute is not stated" : " lets execute") +
           "; aasm-native can take reading and writing out of a grant, and not execution: state "
           "filesystem.execute without a grant over it, or deny it in filesystem.read.deny and "
           "filesystem.write.deny alone";
  }
  const schema::EvidenceWish needed = deny.operation == "read"
                                          ? schema::EvidenceWish::kDecisions
                                          : schema::EvidenceWish::kWriteDecisions;
  const PolicyRule* grant = grant_beneath(requirement, deny, deny.operation);
  if (grant != nullptr && requirement.evidence < needed) {
    return "rule " + deny.id + " denies a part of what " + grant->id +
           " allows; that takes evidence " + std::string(schema::token(needed));
  }
  return std::nullopt;
}

std::optional<std::string> filesystem_obstacle(const Requirement& requirement) {
  for (const PolicyRule& rule : requirement.rules) {
    const bool known =
        rule.operation == "read" || rule.operation == "write" || rule.operation == "execute";
    if (!known) {
      return "rule " + rule.id + ": operation " + rule.operation + " is not known to aasm-native";
    }
    if (rule.selector.type == SelectorType::kWhole && rule.effect == RuleEffect::kAllow) {
      return "rule " + rule.id + ": Landlock needs a path, a grant of the whole cannot be made";
    }
    if (rule.selector.type != SelectorType::kWhole &&
        rule.selector.type != SelectorType::kPathPrefix) {
      return "rule " + rule.id + ": selector " + std::string(schema::token(rule.selector.type)) +
             " is not a path";
    }
  }
  for (const PolicyRule& deny : requirement.rules) {
    if (deny.effect == RuleEffect::kDeny && deny.selector.type == SelectorType::kPathPrefix) {
      if (std::optional<std::string> obstacle = denial_obstacle(requirement, deny)) {
        return obstacle;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> syscall_obstacle(const Requirement& requirement) {
  for (const PolicyRule& rule : requirement.rules) {
    if (rule.selector.type == SelectorType::kWhole) {
      continue;
    }
    if (rule.selector.type != SelectorType::kSyscall) {
      return "rule " + rule.id + ": selector " + std::string(schema::token(rule.selector.type)) +
             " is not a system call";
    }
    const std::string& name = rule.selector.value.bytes();
    if (!known_syscall_name(name) && !known_syscall_group(name)) {
      return "rule " + rule.id + ": " + rule.selector.value.display() +
             " is no system call or group known to aasm-native on this architecture";
    }
  }
  return std::nullopt;
}

std::optional<std::string> network_obstacle(const Requirement& requirement) {
  const bool egress = requirement.domain == Domain::kNetworkEgress;
  const schema::Result<NetworkSpec> spec =
      make_network_spec(egress ? &requirement : nullptr, egress ? nullptr : &requirement);
  return spec ? std::nullopt : std::optional<std::string>(spec.error().message());
}

std::optional<std::string> ipc_obstacle(const Requirement& requirement) {
  const schema::Result<IpcSpec> spec = make_ipc_spec(&requirement);
  return spec ? std::nullopt : std::optional<std::string>(spec.error().message());
}

std::optional<std::string> credential_obstacle(const Requirement& requirement) {
  for (const PolicyRule& rule : requirement.rules) {
    if (rule.selector.type != SelectorType::kWhole &&
        rule.selector.type != SelectorType::kEnvironmentName &&
        rule.selector.type != SelectorType::kDescriptor) {
      return "rule " + rule.id + ": selector " + std::string(schema::token(rule.selector.type)) +
             " is neither an environment name nor a descriptor";
    }
  }
  return std::nullopt;
}

std::optional<std::string> creation_obstacle(const Requirement& requirement) {
  const auto odd =
      std::find_if(requirement.rules.begin(), requirement.rules.end(), [](const PolicyRule& rule) {
        return rule.operation != "create" || rule.selector.type != SelectorType::kLimit ||
               rule.effect != RuleEffect::kAllow;
      });
  return odd == requirement.rules.end()
             ? std::nullopt
             : std::optional("rule " + odd->id + " is no ceiling of processes");
}

}  // namespace

std::optional<std::string> cannot_lower(const Requirement& requirement) {
  if (requirement.intent == schema::Intent::kObserve) {
    return "aasm-native prevents; this version does not observe without preventing";
  }
  switch (requirement.domain) {
    case Domain::kFilesystemRead:
    case Domain::kFilesystemWrite:
      return filesystem_obstacle(requirement);
    case Domain::kSyscall:
      return syscall_obstacle(requirement);
    case Domain::kCredential:
      return credential_obstacle(requirement);
    case Domain::kNetworkEgress:
    case Domain::kNameResolution:
      return network_obstacle(requirement);
    case Domain::kIpc:
      return ipc_obstacle(requirement);
    case Domain::kProcessCreation:
      return creation_obstacle(requirement);
    case Domain::kResource:
      return limit_obstacle(requirement);
  }
  return std::nullopt;
}

namespace {

// A part of a grant is denied by the channel or not at all.
std::optional<std::string> obstacle_here(const Requirement& requirement,
                                         const DomainCapability& capability) {
  if (std::optional<std::string> obstacle = cannot_lower(requirement)) {
    return obstacle;
  }
  for (const PolicyRule& deny : requirement.rules) {
    const bool of_path =
        deny.effect == RuleEffect::kDeny && deny.selector.type == SelectorType::kPathPrefix;
    const PolicyRule* grant = of_path ? grant_beneath(requirement, deny, deny.operation) : nullptr;
    if (grant != nullptr && capability.channel.mechanism == "none") {
      return "rule " + deny.id + " denies a part of what " + grant->id +
             " allows, which takes decisions on single calls; " + capability.channel.scope;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Requirement> installable_requirements(const planner::ExecutionSpec& spec) {
  std::vector<Requirement> installable;
  for (const Requirement& requirement : spec.requirements) {
    const bool in_part = requirement.domain == Domain::kFilesystemRead ||
                         requirement.domain == Domain::kFilesystemWrite ||
                         requirement.domain == Domain::kResource;
    const bool prevents = requirement.intent == schema::Intent::kPreventBeforeEffect;
    if (prevents && (in_part || !cannot_lower(requirement))) {
      installable.push_back(requirement);
    }
  }
  return installable;
}

namespace {

bool reports(const schema::CapabilityProbed& measured, Domain domain) {
  const DomainCapability* capability = measured.find(domain);
  return capability != nullptr && capability->support != schema::Support::kUnsupported &&
         capability->channel.mechanism != "none";
}

// Files are read and written by the same calls, so they are observed together or not at all.
void observe_what_reports(schema::CapabilityProbed& measured) {
  const bool files =
      reports(measured, Domain::kFilesystemRead) && reports(measured, Domain::kFilesystemWrite);
  for (DomainCapability& capability : measured.domains) {
    const bool of_files = capability.domain == Domain::kFilesystemRead ||
                          capability.domain == Domain::kFilesystemWrite;
    if (can_be_observed(capability.domain) &&
        (of_files ? files : reports(measured, capability.domain))) {
      capability.mediation = schema::Mediation::kObserve;
    }
  }
}

}  // namespace

schema::CapabilityProbed narrow_capabilities(const planner::ExecutionSpec& spec,
                                             schema::CapabilityProbed measured) {
  for (const Requirement& requirement : spec.requirements) {
    for (DomainCapability& capability : measured.domains) {
      if (capability.domain != requirement.domain ||
          capability.support == schema::Support::kUnsupported) {
        continue;
      }
      if (const auto obstacle = obstacle_here(requirement, capability)) {
        capability.support = schema::Support::kUnsupported;
        capability.reason = *obstacle;
        capability.limitations.clear();
      }
    }
  }
  if (spec.mode == planner::EnforcementMode::kObserve) {
    observe_what_reports(measured);
  }
  return measured;
}

}  // namespace aasm::backend_native
