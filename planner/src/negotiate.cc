#include "aasm/planner/negotiate.h"

#include <algorithm>
#include <string>
#include <utility>

namespace aasm::planner {
namespace {

using schema::DescendantCoverage;
using schema::DomainCapability;
using schema::EvidenceWish;
using schema::Intent;
using schema::OutcomeKind;
using schema::RefusalReason;
using schema::Requirement;
using schema::RequirementOutcome;
using schema::RequirementPosture;

std::optional<RefusalReason> prevention_shortfall(const DomainCapability& capability) {
  if (capability.mediation != schema::Mediation::kEnforce) {
    return RefusalReason::kObserveOnlyForPreventionRequirement;
  }
  if (capability.timing != schema::Timing::kPre) {
    return RefusalReason::kDecisionTooLate;
  }
  if (capability.synchrony != schema::Synchrony::kSync) {
    return RefusalReason::kDecisionNotSynchronous;
  }
  const bool satisfied = std::all_of(
      capability.prerequisites.begin(), capability.prerequisites.end(),
      [](const auto& one) { return one.status == schema::PrerequisiteStatus::kSatisfied; });
  return satisfied ? std::nullopt : std::optional(RefusalReason::kPrerequisiteUnsatisfied);
}

bool reports_decisions(const DomainCapability& capability) {
  return !capability.channel.mechanism.empty() && capability.channel.mechanism != "none";
}

bool lacks_evidence(const Requirement& requirement, Intent intent,
                    const DomainCapability& capability) {
  const bool observes = intent != Intent::kObserve || capability.can_observe();
  const bool wants_decisions = requirement.evidence != EvidenceWish::kSetup;
  return !observes || (wants_decisions && !reports_decisions(capability));
}

const char* level_name(Intent intent) {
  return intent == Intent::kPreventBeforeEffect ? "prevent_before_effect" : "observe";
}

// What will be done: the backend that narrowed this capability will let through what it sees.
Intent intent_in(EnforcementMode mode, const Requirement& requirement,
                 const DomainCapability& capability) {
  const bool only_observes =
      mode == EnforcementMode::kObserve && capability.mediation == schema::Mediation::kObserve;
  return only_observes ? Intent::kObserve : requirement.intent;
}

std::string planned_level(const Requirement& requirement, Intent intent) {
  std::string level = level_name(intent);
  if (requirement.evidence != EvidenceWish::kSetup) {
    level += ", evidence " + std::string(schema::token(requirement.evidence));
  }
  return level;
}

// What is left where the requirement falls short. Without a channel nobody would see an action.
std::string achieved_level(const Requirement& requirement, const DomainCapability* capability,
                           RefusalReason reason) {
  if (reason == RefusalReason::kNoEvidenceProduced &&
      requirement.intent == Intent::kPreventBeforeEffect) {
    return std::string(level_name(requirement.intent)) + ", evidence setup";
  }
  if (capability == nullptr || !capability->can_observe() || !reports_decisions(*capability)) {
    return "none";
  }
  return reason == RefusalReason::kDescendantCoverageInsufficient
             ? "observe, descendants " + std::string(schema::token(capability->descendants))
             : "observe";
}

RequirementOutcome met(const Requirement& requirement, const DomainCapability& capability,
                       EnforcementMode mode) {
  const Intent intent = intent_in(mode, requirement, capability);
  RequirementOutcome outcome;
  outcome.domain = requirement.domain;
  outcome.kind =
      intent == Intent::kPreventBeforeEffect ? OutcomeKind::kEnforced : OutcomeKind::kObserved;
  outcome.posture = requirement.posture;
  outcome.timing = capability.timing;
  outcome.descendants = capability.descendants;
  outcome.planned = planned_level(requirement, intent);
  outcome.achieved = outcome.planned;
  return outcome;
}

RequirementOutcome short_of(const Requirement& requirement, const DomainCapability* capability,
                            const schema::Refusal& refusal) {
  RequirementOutcome outcome;
  outcome.domain = requirement.domain;
  outcome.posture = requirement.posture;
  outcome.reason = refusal.reason;
  outcome.detail = refusal.detail;
  outcome.planned = planned_level(requirement, requirement.intent);
  if (requirement.posture == RequirementPosture::kDegradeIfUnavailable) {
    outcome.kind = OutcomeKind::kDegraded;
    outcome.achieved = achieved_level(requirement, capability, *refusal.reason);
  } else {
    outcome.kind = OutcomeKind::kUnmet;
    outcome.achieved = "none";
  }
  if (capability != nullptr) {
    outcome.timing = capability->timing;
    outcome.descendants = capability->descendants;
  }
  return outcome;
}

std::vector<Requirement> in_domain_order(std::vector<Requirement> requirements) {
  std::stable_sort(requirements.begin(), requirements.end(),
                   [](const Requirement& a, const Requirement& b) { return a.domain < b.domain; });
  return requirements;
}

}  // namespace

std::optional<RefusalReason> first_shortfall(const Requirement& requirement,
                                             const DomainCapability* capability,
                                             EnforcementMode mode) {
  if (capability == nullptr) {
    return RefusalReason::kNoCapabilityReported;
  }
  if (capability->support == schema::Support::kUnsupported) {
    return RefusalReason::kDomainUnsupported;
  }
  const Intent intent = intent_in(mode, requirement, *capability);
  if (intent == Intent::kPreventBeforeEffect) {
    if (const auto reason = prevention_shortfall(*capability)) {
      return reason;
    }
  }
  if (requirement.descendants == DescendantCoverage::kProcessTree &&
      capability->descendants != DescendantCoverage::kProcessTree) {
    return RefusalReason::kDescendantCoverageInsufficient;
  }
  return lacks_evidence(requirement, intent, *capability)
             ? std::optional(RefusalReason::kNoEvidenceProduced)
             : std::nullopt;
}

Negotiation negotiate(const std::vector<Requirement>& requirements,
                      const schema::CapabilityProbed& capabilities, const PolicyView& policy,
                      EnforcementMode mode) {
  Negotiation result;
  for (const Requirement& requirement : in_domain_order(requirements)) {
    const DomainCapability* capability = capabilities.find(requirement.domain);
    const std::optional<RefusalReason> reason = first_shortfall(requirement, capability, mode);
    if (!reason) {
      result.outcomes.push_back(met(requirement, *capability, mode));
      continue;
    }
    schema::Refusal refusal =
        refuse_requirement(*reason, {requirement, capability, capabilities.backend.id, policy});
    result.outcomes.push_back(short_of(requirement, capability, refusal));
    if (requirement.posture == RequirementPosture::kRequired) {
      result.unmet.push_back(requirement.domain);
      result.refusals.push_back(std::move(refusal));
    }
    result.posture = schema::LaunchPosture::kDegraded;
  }
  return result;
}

std::vector<RequirementOutcome> unconfined_outcomes(const std::vector<Requirement>& requirements) {
  std::vector<RequirementOutcome> outcomes;
  for (const Requirement& requirement : in_domain_order(requirements)) {
    RequirementOutcome outcome;
    outcome.domain = requirement.domain;
    outcome.kind = OutcomeKind::kNoBoundary;
    outcome.posture = requirement.posture;
    outcome.planned = planned_level(requirement, requirement.intent);
    outcome.achieved = "none";
    outcome.detail = "isolation none was asked for; nothing is negotiated and nothing installed";
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

}  // namespace aasm::planner
