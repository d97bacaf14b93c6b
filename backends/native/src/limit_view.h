#pragma once

#include <string>
#include <vector>

#include "aasm/planner/action.h"
#include "aasm/schema/record_policy.h"

namespace aasm::backend_native {

// What becomes of a program that wants more than the limit of this name allows, on this host.
planner::ActionView view_limit(const std::vector<schema::Requirement>& requirements,
                               const std::string& name);

}  // namespace aasm::backend_native
