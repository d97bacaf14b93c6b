#pragma once

#include "aasm/planner/action.h"
#include "aasm/planner/execution_spec.h"

namespace aasm::backend_native {

// What the ruleset and the filter of `spec` make of an action. Computed by the functions that make
// them: grant_requests(), make_filter_spec(), classify() and judge_address(). Does not look at
// files, so a grant of something that is not there counts as if it were.
planner::ActionView view_action(const planner::ExecutionSpec& spec, const planner::Action& action);

}  // namespace aasm::backend_native
