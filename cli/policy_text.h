#pragma once

#include <string>
#include <vector>

#include "aasm/planner/lint.h"
#include "aasm/schema/json_value.h"

namespace aasm::cli {

// What `aasm policy check` says of a policy and of what was found in it.
std::string policy_text(const planner::ResolvedPolicy& policy,
                        const std::vector<planner::PolicyFinding>& findings);

// The same as aasm.policy-check/1 (schema/json/policy-check.schema.json).
schema::JsonValue policy_json(const planner::ResolvedPolicy& policy,
                              const std::vector<planner::PolicyFinding>& findings);

// What keeps a run with this policy from starting: it has not loaded, or a finding is an error.
bool has_errors(const planner::ResolvedPolicy& policy,
                const std::vector<planner::PolicyFinding>& findings);

// "FILE:LINE:COLUMN", escaped.
std::string place_text(const planner::SourceProblem& where);

}  // namespace aasm::cli
