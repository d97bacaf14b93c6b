#include "implied_evidence.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "aasm/planner/paths.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::EvidenceWish;
using schema::PolicyRule;
using schema::Requirement;

const PolicyRule* first_denial(const Requirement& requirement, std::string_view operation) {
  const auto found =
      std::find_if(requirement.rules.begin(), requirement.rules.end(), [&](const PolicyRule& rule) {
        return rule.effect == schema::RuleEffect::kDeny && rule.operation == operation &&
               rule.selector.type == schema::SelectorType::kPathPrefix;
      });
  return found == requirement.rules.end() ? nullptr : &*found;
}

// Landlock cannot take the processes of aasm out of a grant to write what proc(5) has of processes.
const PolicyRule* grant_of_processes(const Requirement& requirement) {
  constexpr std::string_view kProc = "/proc";
  const auto found =
      std::find_if(requirement.rules.begin(), requirement.rules.end(), [&](const PolicyRule& rule) {
        const std::string& path = rule.selector.value.bytes();
        return rule.effect == schema::RuleEffect::kAllow && rule.operation == "write" &&
               rule.selector.type == schema::SelectorType::kPathPrefix &&
               (path_covers(kProc, path) || path_covers(path, kProc));
      });
  return found == requirement.rules.end() ? nullptr : &*found;
}

void raise(Requirement& requirement, const PolicyRule* cause, const std::string& reason,
           EvidenceWish needed, std::vector<schema::PolicyGap>& gaps) {
  if (cause == nullptr || requirement.evidence >= needed) {
    return;
  }
  gaps.push_back({requirement.domain, cause->id,
                  reason + " is decided by itself: evidence " + std::string(schema::token(needed)) +
                      " where the policy wishes for " +
                      std::string(schema::token(requirement.evidence))});
  requirement.evidence = needed;
}

}  // namespace

void imply_evidence(std::vector<Requirement>& requirements, std::vector<schema::PolicyGap>& gaps) {
  for (Requirement& requirement : requirements) {
    const bool reads = requirement.domain == Domain::kFilesystemRead;
    if (!reads && requirement.domain != Domain::kFilesystemWrite) {
      continue;
    }
    raise(requirement, first_denial(requirement, reads ? "read" : "write"),
          reads ? "lies inside a grant, so every opening of a file"
                : "lies inside a grant, so every change of a file",
          reads ? EvidenceWish::kDecisions : EvidenceWish::kWriteDecisions, gaps);
    if (!reads) {
      raise(requirement, grant_of_processes(requirement),
            "has aasm's own processes in it, so every change of a file",
            EvidenceWish::kWriteDecisions, gaps);
    }
  }
}

}  // namespace aasm::planner
