#include "aasm/planner/execution_spec.h"

#include <algorithm>

namespace aasm::planner {

using schema::Requirement;

const Requirement* requirement_on(const std::vector<Requirement>& requirements,
                                  schema::Domain domain) {
  const auto found = std::find_if(requirements.begin(), requirements.end(),
                                  [&](const Requirement& one) { return one.domain == domain; });
  return found == requirements.end() ? nullptr : &*found;
}

std::string_view mode_token(EnforcementMode mode) {
  return mode == EnforcementMode::kObserve ? "observe" : "enforce";
}

}  // namespace aasm::planner
