#pragma once

#include <vector>

#include "aasm/schema/record_policy.h"

namespace aasm::planner {

// A path that is denied inside a grant is kept by deciding single calls, so it takes evidence of
// them: of writing `write-decisions`, of reading `decisions`. So is a grant to write that has
// /proc, or a part of it, in it: what proc(5) has of aasm's own processes is left out. Where policy
// wishes for less the requirement is raised, and a gap says so.
void imply_evidence(std::vector<schema::Requirement>& requirements,
                    std::vector<schema::PolicyGap>& gaps);

}  // namespace aasm::planner
