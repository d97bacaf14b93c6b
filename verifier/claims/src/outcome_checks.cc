#include "outcome_checks.h"

#include <algorithm>
#include <string>

#include "text.h"

namespace aasm::claims {
namespace {

using schema::Intent;
using schema::IsolationClass;
using schema::OutcomeKind;
using schema::Requirement;
using schema::RequirementOutcome;
using schema::RequirementPosture;

bool isolation_none_is_recorded(const RunFacts& facts) {
  return facts.opened() && facts.opened()->body.isolation == IsolationClass::kNone &&
         facts.plan()->body.requested == IsolationClass::kNone;
}

// Why a required requirement does not hold; empty when it does.
std::string why_unmet(const RunFacts& facts, const RequirementOutcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::kUnmet:
      return outcome.reason ? "unmet, " + name_of(*outcome.reason) : "unmet";
    case OutcomeKind::kNoBoundary:
      return isolation_none_is_recorded(facts) ? "" : "no boundary under another class than none";
    case OutcomeKind::kEnforced:
    case OutcomeKind::kObserved:
    case OutcomeKind::kDegraded:
      return "";
  }
  return "";
}

bool weaker_than_asked(const RunFacts& facts, const Requirement& requirement,
                       const RequirementOutcome& outcome) {
  if (outcome.posture != requirement.posture) {
    return true;
  }
  if (requirement.posture != RequirementPosture::kRequired) {
    return false;
  }
  const bool enforcing = facts.opened() && facts.opened()->body.enforcement_mode == "enforce";
  return outcome.kind == OutcomeKind::kDegraded ||
         (outcome.kind == OutcomeKind::kObserved && enforcing &&
          requirement.intent == Intent::kPreventBeforeEffect);
}

// Whether a control for policy was installed that serves the requirement. Where its record stands
// and who signed it is judged elsewhere.
bool is_served(const RunFacts& facts, const Requirement& requirement) {
  return std::any_of(facts.controls().begin(), facts.controls().end(), [&](const auto& held) {
    const schema::Control& control = held.body;
    return control.installed && control.purpose == schema::Purpose::kPolicy &&
           (control.domain == requirement.domain ||
            std::any_of(control.rules.begin(), control.rules.end(),
                        [&](const auto& rule) { return requirement.names_rule(rule); }));
  });
}

}  // namespace

void check_outcomes(const RunFacts& facts, ContradictionLog& log) {
  if (!facts.started() || !facts.policy() || !facts.plan()) {
    return;
  }
  const std::int64_t seq = facts.started()->mark.seq;
  for (const Requirement& requirement : facts.policy()->body.requirements) {
    const RequirementOutcome* outcome = facts.outcome(requirement.domain);
    const bool required = requirement.posture == RequirementPosture::kRequired;
    if (outcome == nullptr) {
      if (required) {
        log.note(ContradictionCode::kStartedDespiteUnmetRequirement, seq,
                 name_of(requirement.domain) + ": the plan has no outcome for it");
      }
      continue;
    }
    const std::string unmet = why_unmet(facts, *outcome);
    if (required && !unmet.empty()) {
      log.note(ContradictionCode::kStartedDespiteUnmetRequirement, seq,
               name_of(requirement.domain) + ": " + unmet);
    }
    if (weaker_than_asked(facts, requirement, *outcome)) {
      log.note(ContradictionCode::kOutcomeContradictsPolicy, facts.plan()->mark.seq,
               name_of(requirement.domain) + ": " + name_of(outcome->kind) + " for a requirement " +
                   name_of(requirement.posture));
    }
  }
}

void check_controls(const RunFacts& facts, ContradictionLog& log) {
  // A control.prepared that is missing altogether is setup_record_missing.
  if (!facts.policy() || !facts.plan() ||
      (facts.plan()->body.backend && !facts.control_recorded())) {
    return;
  }
  for (const Requirement& requirement : facts.policy()->body.requirements) {
    const RequirementOutcome* outcome = facts.outcome(requirement.domain);
    if (outcome != nullptr && outcome->kind == OutcomeKind::kEnforced &&
        !is_served(facts, requirement)) {
      log.note(ContradictionCode::kEnforcedWithoutControl, facts.plan()->mark.seq,
               name_of(requirement.domain));
    }
  }
}

}  // namespace aasm::claims
