#pragma once

#include <string>
#include <vector>

#include "aasm/planner/explain.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/schema/json_value.h"

#include "explain_launch.h"

namespace aasm::cli {

// What `aasm policy explain` answers, for a person and for a program (aasm.policy-explain/1).
std::string explain_text(const planner::ResolvedPolicy& policy, const LaunchOutlook& outlook,
                         const std::vector<planner::ExplainedObject>& objects);
schema::JsonValue explain_json(const planner::ResolvedPolicy& policy, const LaunchOutlook& outlook,
                               const std::vector<planner::ExplainedObject>& objects);

}  // namespace aasm::cli
