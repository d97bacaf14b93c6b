#pragma once

#include <optional>
#include <vector>

#include "aasm/planner/execution_spec.h"
#include "aasm/planner/refusal.h"
#include "aasm/schema/record_plan.h"
#include "aasm/schema/record_policy.h"

namespace aasm::planner {

// What came of holding requirements against one backend's capabilities. With any refusal there is
// no plan: the outcomes are then for messages only.
struct Negotiation {
  std::vector<schema::RequirementOutcome> outcomes;  // one each, in the order of the domains
  std::vector<schema::Refusal> refusals;             // of required ones, all together
  std::vector<schema::Domain> unmet;                 // domains of the refusals
  schema::LaunchPosture posture = schema::LaunchPosture::kReady;
};

// The first check that fails, in the order of docs/spec/product.md section 4; nullopt when the
// requirement is met. `capability` is null when the backend reports nothing on the domain. When the
// operator asks to observe, a capability that observes meets a requirement to prevent.
std::optional<schema::RefusalReason> first_shortfall(
    const schema::Requirement& requirement, const schema::DomainCapability* capability,
    EnforcementMode mode = EnforcementMode::kEnforce);

// Pure. `capabilities` as narrowed to this policy by the backend. A requirement that falls short
// is a refusal when required, `unmet` when optional, `degraded` with both levels otherwise; either
// makes the posture degraded.
Negotiation negotiate(const std::vector<schema::Requirement>& requirements,
                      const schema::CapabilityProbed& capabilities, const PolicyView& policy,
                      EnforcementMode mode = EnforcementMode::kEnforce);

// The outcomes of a launch with isolation none: nothing is negotiated.
std::vector<schema::RequirementOutcome> unconfined_outcomes(
    const std::vector<schema::Requirement>& requirements);

}  // namespace aasm::planner
