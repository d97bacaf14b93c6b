#pragma once

#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/planner/lower.h"
#include "aasm/planner/refusal.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_policy.h"

namespace aasm::planner {

// The grants of a policy that reach something of ours (docs/spec/policy.md, "Errors at plan time"):
// a grant of any kind over ledger, keys or trust gives grant_covers_evidence, a write grant over
// the policy in use, the launch helper or aasm gives grant_covers_control. Decided by device and
// inode of what is granted against those of the protected file, of every directory above it and of
// every link on the way, so a symbolic link, a bind mount or another spelling hides nothing; a
// grant that lies inside a protected directory counts too. A protected evidence file with a second
// hard link is refused, since the other name cannot be found.
// Looks at the host through `resolve` only. What it does not see: a bind mount of the inside of a
// protected directory, and hard links to aasm, the helper or the policy.
std::vector<schema::Refusal> check_grants(const std::vector<schema::Requirement>& requirements,
                                          const ProtectedPaths& paths, const PolicyView& policy,
                                          const PathResolver& resolve);

}  // namespace aasm::planner
