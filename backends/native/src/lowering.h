#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/execution_spec.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_policy.h"

// Which of a policy's requirements aasm-native can carry out. Pure.
namespace aasm::backend_native {

using planner::requirement_on;

// Why this backend cannot carry out `requirement` as it stands; nullopt when it can.
std::optional<std::string> cannot_lower(const schema::Requirement& requirement);

// The requirements that prepare() installs. One that cannot be lowered, and that posture lets a
// launch go on without, is left out; but of the filesystem what Landlock can grant is installed all
// the same, since a deny it cannot carry out is no reason to leave everything open; so are limits
// beside one that cannot be had.
std::vector<schema::Requirement> installable_requirements(const planner::ExecutionSpec& spec);

// `measured`, with each domain whose requirement cannot be lowered made unsupported(reason).
schema::CapabilityProbed narrow_capabilities(const planner::ExecutionSpec& spec,
                                             schema::CapabilityProbed measured);

}  // namespace aasm::backend_native
