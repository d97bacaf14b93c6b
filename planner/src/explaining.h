#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/explain.h"

// The parts of explain(), shared by its files.
namespace aasm::planner {

// What the policy says of an object, and where.
struct PolicySaying {
  PolicyWord word = PolicyWord::kNotStated;
  std::string rule;
  std::optional<std::int64_t> line;
  std::vector<DocumentSaying> documents;
};

// What the requirement on `action.domain` says. A rule covers the action where it contains
// `object`, and takes it out where it denies `denied` (the same but for names in a directory). Deny
// rules outrank; of the rules that allow, the narrowest is named.
PolicySaying what_policy_says(const ExplainInput& input, const Action& action,
                              const schema::Selector& object, const schema::Selector& denied);

// The explanation of one action: the policy's word, what the backend makes of it, and the sum.
Explanation explain_action(const ExplainInput& input, Action action, const PolicySaying& saying);

// "`WHAT` WHY"
schema::Error cannot_ask(const std::string& what, const std::string& why);

// explain_limit.cc: what happens beyond one of the limits of `resources`.
bool is_limit_name(const std::string& what);
schema::Result<ExplainedObject> explain_limit(const ExplainInput& input, const std::string& what,
                                              const std::string& operation);

// explain_path.cc
schema::Result<ExplainedObject> explain_path(const ExplainInput& input, const std::string& what,
                                             const std::string& operation);

// explain_execute.cc: adds to `answer`, which is of executing `program`, what else that takes.
schema::Result<void> follow_execution(const ExplainInput& input, const std::string& program,
                                      Explanation& answer, std::vector<std::string>& notes);

}  // namespace aasm::planner
