#pragma once

#include <string>

#include "aasm/planner/execution_spec.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/record_plan.h"

namespace aasm::planner {

// The canonical text (RFC 8785) a plan's digest is taken over: the specification, the requirements
// by their meaning, and of the plan everything but candidates and digest. Requirements and rules
// are sorted and stand without ids and lines, so that two documents that say the same in another
// order give the same plan.
// Precondition: identity and steps are valid UTF-8.
std::string plan_canonical_text(const ExecutionSpec& spec, const schema::PlanResolved& plan);

// SHA-256 of that text.
schema::Sha256 plan_digest(const ExecutionSpec& spec, const schema::PlanResolved& plan,
                           const HashFunction& hash);

}  // namespace aasm::planner
