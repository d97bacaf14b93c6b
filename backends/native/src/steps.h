#pragma once

#include <string>
#include <vector>

#include "aasm/planner/execution_spec.h"

namespace aasm::backend_native {

// What prepare() installs for `spec`, one sentence each, in the order of the helper's steps. Pure.
std::vector<std::string> installation_steps(const planner::ExecutionSpec& spec);

}  // namespace aasm::backend_native
