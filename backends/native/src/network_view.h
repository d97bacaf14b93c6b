#pragma once

#include <vector>

#include "aasm/planner/action.h"
#include "aasm/schema/record_policy.h"

namespace aasm::backend_native {

// What the judge of sockets makes of `connect` to HOST:PORT over TCP, or of `resolve` NAME, under
// requirements that can be carried out. A host by name is allowed where every address is, or by a
// rule of that name, and then it depends on the answer.
planner::ActionView view_network(const std::vector<schema::Requirement>& requirements,
                                 const planner::Action& action);

}  // namespace aasm::backend_native
