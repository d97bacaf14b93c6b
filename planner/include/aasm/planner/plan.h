#pragma once

#include <string>

#include "aasm/planner/execution_spec.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/record_plan.h"

namespace aasm::planner {

// The canonical text of what a plan is and what it is for: that of schema/plan_text.h, which a
// verifier makes again from the records of the run.
// Precondition: identity and steps are valid UTF-8.
std::string plan_canonical_text(const ExecutionSpec& spec, const schema::PlanResolved& plan);

// SHA-256 of that text.
schema::Sha256 plan_digest(const ExecutionSpec& spec, const schema::PlanResolved& plan,
                           const HashFunction& hash);

}  // namespace aasm::planner
