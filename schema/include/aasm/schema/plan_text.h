#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/record_run.h"

namespace aasm::schema {

// What a plan is a plan for, as `run.opened` and `policy.resolved` record it. Borrows.
struct PlanSubject {
  const AgentIdentity& identity;
  const PathBytes& program;  // as given on the command line
  std::int64_t arg_count = 0;
  const PathBytes& working_dir;
  const std::vector<Requirement>& requirements;
  const std::string& on_denial;
};
PlanSubject plan_subject(const RunOpened& opened, const PolicyResolved& policy);

// The canonical text (RFC 8785) whose SHA-256 is `plan.resolved.digest`: docs/spec/product.md
// section 3. Everything in it stands in records of the run, so that a verifier can make it again.
// Requirements and rules are sorted and stand without ids and lines, so that two documents that say
// the same in another order give the same plan.
// Precondition: identity and steps are valid UTF-8.
std::string plan_canonical_text(const PlanSubject& subject, const PlanResolved& plan);

}  // namespace aasm::schema
