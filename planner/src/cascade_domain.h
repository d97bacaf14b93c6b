#pragma once

#include <functional>
#include <string>
#include <vector>

#include "aasm/planner/cascade.h"

#include "cascade_cuts.h"
#include "denials.h"

namespace aasm::planner {

// What one document of several says of a domain. Both borrowed.
struct DomainStatement {
  const CascadeMember* member = nullptr;
  const schema::Requirement* requirement = nullptr;
};

// The requirement that allows what each of the statements allows: rules, default rule and evidence
// wish; the posture is left to the caller. `denials` matter to the file system only.
schema::Requirement intersect_domain(const std::vector<DomainStatement>& statements,
                                     PathDenials& denials, const GroupMembers& groups,
                                     const NoteGap& gap);

}  // namespace aasm::planner
