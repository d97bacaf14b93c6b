#include "probe_requirements.h"

#include <string>
#include <utility>

#include "landlock_uapi.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Requirement;

schema::PolicyRule probe_rule(std::string operation, schema::SelectorType type, std::string value) {
  schema::PolicyRule rule;
  rule.id = "probe";
  rule.operation = std::move(operation);
  rule.selector = {type, schema::PathBytes(std::move(value))};
  return rule;
}

schema::PolicyRule probe_setting(std::string operation, std::string value) {
  schema::PolicyRule rule =
      probe_rule(std::move(operation), schema::SelectorType::kLimit, std::move(value));
  rule.effect = schema::RuleEffect::kDeny;
  return rule;
}

std::vector<schema::PolicyRule> probe_rules(Domain domain) {
  switch (domain) {
    case Domain::kSyscall:
      return {probe_rule("call", schema::SelectorType::kSyscall, "@default"),
              probe_rule("call", schema::SelectorType::kSyscall, "@ipc")};
    case Domain::kProcessCreation:
      return {probe_rule("create", schema::SelectorType::kLimit, "1")};
    case Domain::kIpc:
      return {probe_setting("abstract_sockets", "deny"), probe_setting("signals", "inside"),
              probe_setting("shared_memory", "inside")};
    case Domain::kResource:
      return {probe_rule("file_size_bytes", schema::SelectorType::kLimit, "4096"),
              probe_rule("open_files", schema::SelectorType::kLimit, "64")};
    case Domain::kFilesystemRead:
    case Domain::kFilesystemWrite:
    case Domain::kNetworkEgress:
    case Domain::kNameResolution:
    case Domain::kCredential:
      break;
  }
  return {};
}

}  // namespace

std::vector<Requirement> probe_requirements(std::int64_t abi) {
  std::vector<Requirement> requirements;
  for (const auto& [domain, token] : schema::EnumNames<Domain>::kTokens) {
    const bool brokered = domain == Domain::kNetworkEgress || domain == Domain::kNameResolution ||
                          domain == Domain::kIpc;
    if (brokered && abi < landlock::kSignalScopeAbi) {
      continue;  // no broker without the scope, and no backend either
    }
    Requirement requirement;
    requirement.domain = domain;
    requirement.default_rule = "probe";
    const bool files = domain == Domain::kFilesystemRead || domain == Domain::kFilesystemWrite;
    if (files && abi >= landlock::kSignalScopeAbi) {
      requirement.evidence = schema::EvidenceWish::kDecisions;
    }
    requirement.rules = probe_rules(domain);
    requirements.push_back(std::move(requirement));
  }
  return requirements;
}

}  // namespace aasm::backend_native
