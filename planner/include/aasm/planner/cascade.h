#pragma once

#include <string>
#include <vector>

#include "aasm/planner/lower.h"
#include "aasm/planner/policy_decode.h"
#include "aasm/planner/policy_document.h"
#include "aasm/planner/selector.h"
#include "aasm/schema/plan_vocabulary.h"

namespace aasm::planner {

// One document of a policy that is several. The document is borrowed.
struct CascadeMember {
  schema::PolicyScope scope;
  std::string source;
  const PolicyDocument* document = nullptr;
  LoweredPolicy lowered;
};

// What one document of several says by itself. Ids in it are without the scope.
struct DocumentStatements {
  schema::PolicyScope scope;
  std::string source;
  std::vector<schema::Requirement> requirements;
  std::vector<DomainPlace> places;
};

// "org:filesystem.read.allow[0]"
std::string scoped(schema::PolicyScope scope, const std::string& node);

// What the documents allow together (docs/policy-reference.md, "Several documents"): an object is
// allowed when each document that states its domain allows it, and none denies it; of limits the
// smallest holds, of postures and evidence wishes the strictest. Ids of rules and nodes begin with
// the scope of their document. The order of `members` does not matter. Pure but for `resolve`.
// Precondition: two members or more, with distinct scopes and without problems.
LoweredPolicy intersect_policies(std::vector<CascadeMember> members, const PathResolver& resolve,
                                 const GroupMembers& groups);

// The missing_halves() that no other of the documents has.
std::vector<SourceProblem> unmatched_halves(const std::vector<CascadeMember>& members);

}  // namespace aasm::planner
