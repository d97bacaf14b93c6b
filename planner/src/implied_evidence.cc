#include "implied_evidence.h"

#include <algorithm>
#include <string>

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

}  // namespace

void imply_evidence(std::vector<Requirement>& requirements, std::vector<schema::PolicyGap>& gaps) {
  for (Requirement& requirement : requirements) {
    const bool reads = requirement.domain == Domain::kFilesystemRead;
    if (!reads && requirement.domain != Domain::kFilesystemWrite) {
      continue;
    }
    const EvidenceWish needed = reads ? EvidenceWish::kDecisions : EvidenceWish::kWriteDecisions;
    const PolicyRule* denial = first_denial(requirement, reads ? "read" : "write");
    if (denial == nullptr || requirement.evidence >= needed) {
      continue;
    }
    gaps.push_back(
        {requirement.domain, denial->id,
         "lies inside a grant, so " + std::string(reads ? "every opening" : "every change") +
             " of a file is decided by itself: evidence " + std::string(schema::token(needed)) +
             " where the policy wishes for " + std::string(schema::token(requirement.evidence))});
    requirement.evidence = needed;
  }
}

}  // namespace aasm::planner
