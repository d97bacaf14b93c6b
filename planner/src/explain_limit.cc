#include <algorithm>
#include <utility>

#include "explaining.h"
#include "limit_names.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyRule;

// Of several documents the smallest limit holds, which is the one rule that is left.
PolicySaying saying_of_limit(const ExplainInput& input, const std::string& name) {
  for (const schema::Requirement& requirement : input.requirements) {
    if (requirement.domain != Domain::kResource) {
      continue;
    }
    for (const PolicyRule& rule : requirement.rules) {
      if (rule.operation == name) {
        return {PolicyWord::kDenied, rule.id, rule.line, {}};
      }
    }
  }
  return {};
}

}  // namespace

bool is_limit_name(const std::string& what) {
  return std::find(kLimitNames.begin(), kLimitNames.end(), what) != kLimitNames.end();
}

schema::Result<ExplainedObject> explain_limit(const ExplainInput& input, const std::string& what,
                                              const std::string& operation) {
  if (!operation.empty() && operation != "exceed") {
    return cannot_ask(what, "is a limit; the operation on one is exceed");
  }
  ExplainedObject out{what, "limit", {}, {}, {}, {}};
  out.answers.push_back(
      explain_action(input, {Domain::kResource, "exceed", what}, saying_of_limit(input, what)));
  return out;
}

}  // namespace aasm::planner
