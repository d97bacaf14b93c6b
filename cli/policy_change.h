#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/learn.h"
#include "aasm/planner/policy_edit.h"
#include "aasm/planner/policy_resolve.h"

namespace aasm::cli {

// One document of a policy, and what is put into it.
struct ChangedDocument {
  std::string path;
  std::optional<schema::PolicyScope> scope;  // where the policy is several documents
  std::string text;                          // as it stands
  std::vector<schema::Requirement> requirements;
  std::vector<planner::Addition> additions;
  std::vector<planner::Insertion> insertions;
};

// The documents of a policy, the broadest first. Borrows nothing.
std::vector<ChangedDocument> documents_of(const planner::ResolvedPolicy& policy);

// Puts each addition into every document that states its list and does not allow it yet: what the
// documents allow together is what each of them allows. Takes what was there out.
void distribute(const std::vector<planner::Addition>& additions,
                std::vector<ChangedDocument>& documents);

// Fills in the insertions. `comment` is written above each entry.
using AdditionComment = std::string (*)(const planner::Addition& addition);
schema::Result<void> plan_change(std::vector<ChangedDocument>& documents, AdditionComment comment);

// The ids that the rule of an addition can have in the changed policy.
std::vector<std::string> new_ids(const std::vector<ChangedDocument>& documents,
                                 const planner::Addition& addition);

// Whether the changed policy allows what was added; of other things than files it is taken to.
bool has_effect(const planner::ResolvedPolicy& changed, const planner::Addition& addition);

// Unified diffs, one behind another; of several documents each below a line that says whose it is.
std::string diff_of(const std::vector<ChangedDocument>& documents);

}  // namespace aasm::cli
