#include "aasm/claims/claims.h"

#include <algorithm>
#include <cstddef>

#include "channel_state.h"
#include "domain_claim.h"
#include "outcome_checks.h"
#include "text.h"

namespace aasm::claims {
namespace {

using schema::ClaimTerm;
using schema::LaunchPosture;
using schema::RunEnding;

RunState state_of(const RunFacts& facts) {
  if (facts.recovered()) {
    return RunState::kInterrupted;
  }
  if (!facts.closed()) {
    return RunState::kOpen;
  }
  switch (facts.closed()->body.ending) {
    case RunEnding::kFinished:
      return RunState::kFinished;
    case RunEnding::kRefused:
      return RunState::kRefused;
    case RunEnding::kPrepareFailed:
    case RunEnding::kCanaryFailed:
    case RunEnding::kSelfProtectionFailed:
    case RunEnding::kExecFailed:
      return RunState::kFailedBeforeStart;
    case RunEnding::kEvidenceFailure:
      return RunState::kEvidenceFailure;
  }
  return RunState::kOpen;
}

ReportedPosture posture_of_plan(const schema::PlanResolved& plan) {
  switch (plan.posture) {
    case LaunchPosture::kReady:
      return ReportedPosture::kReady;
    case LaunchPosture::kDegraded:
      return ReportedPosture::kDegraded;
    case LaunchPosture::kUnconfined:
      return ReportedPosture::kUnconfined;
  }
  return ReportedPosture::kNotPlanned;
}

std::string refusal_text(const schema::PlanRefused& refused) {
  std::vector<std::string> tokens;
  for (const schema::Refusal& refusal : refused.refusals) {
    tokens.push_back(name_of(refusal.launch));
  }
  sort_unique(tokens);
  return joined(tokens, ", ");
}

std::string degraded_domains(const schema::PlanResolved& plan) {
  std::vector<std::string> names;
  for (const schema::RequirementOutcome& outcome : plan.outcomes) {
    if (outcome.kind == schema::OutcomeKind::kDegraded) {
      names.push_back(name_of(outcome.domain));
    }
  }
  return joined(names, ", ");
}

void set_posture(const RunFacts& facts, RunClaims& claims) {
  if (facts.refused()) {
    claims.posture = ReportedPosture::kRefused;
    claims.posture_detail = refusal_text(facts.refused()->body);
    return;
  }
  if (facts.closed() && !claims.started) {
    const schema::RunClosed& closed = facts.closed()->body;
    claims.posture = ReportedPosture::kRefused;
    claims.posture_detail = name_of(closed.ending);
    if (!closed.detail.empty()) {
      claims.posture_detail += ": " + closed.detail;
    }
    return;
  }
  if (!facts.plan()) {
    return;
  }
  claims.posture = posture_of_plan(facts.plan()->body);
  if (claims.posture == ReportedPosture::kUnconfined) {
    claims.posture_detail = "isolation none: no boundary was asked for";
  } else if (claims.posture == ReportedPosture::kDegraded) {
    claims.posture_detail = degraded_domains(facts.plan()->body);
  }
}

std::vector<OpenQuestion> open_questions(const RunFacts& facts, const RunClaims& claims) {
  std::vector<OpenQuestion> questions;
  const auto& probes = facts.probes();
  if (std::any_of(probes.begin(), probes.end(), [](const HeldProbe& probe) {
        return probe.body.reference.has_value() && !probe.referenced.has_value();
      })) {
    questions.push_back(OpenQuestion::kProbeReferenceNotSupplied);
  }
  if (facts.undecided_coverage() > 0) {
    questions.push_back(OpenQuestion::kObjectCoverageUndecided);
  }
  if (claims.witness && !claims.witness->unexplained.empty()) {
    questions.push_back(OpenQuestion::kWitnessDisagrees);
  }
  return questions;
}

// Without the rules of this version nothing is said of any domain but whether policy states it.
void leave_underived(const RunFacts& facts, OpenQuestion question, RunClaims& claims) {
  for (const auto& [domain, name] : schema::EnumNames<schema::Domain>::kTokens) {
    DomainClaim& claim = claims.domains.at(static_cast<std::size_t>(domain));
    claim.domain = domain;
    claim.stated = facts.requirement(domain) != nullptr;
    claim.boundary_reason = name_of(question);
  }
  claims.open_questions = {question};
}

}  // namespace

std::string ChannelView::text() const {
  std::string word = name_of(state);
  const bool numbered = state == schema::ChannelState::kLossy ||
                        state == schema::ChannelState::kCompleteUntilNestedFilter;
  return numbered ? word + "(" + std::to_string(number) + ")" : word;
}

std::string_view DomainClaim::claim_token() const {
  if (!stated) {
    return "not_stated";
  }
  return claim ? schema::token(*claim) : "not_derived";
}

std::string DomainClaim::claim_text() const {
  std::string text(claim_token());
  if (claim == ClaimTerm::kDeniedBeforeExecution) {
    text += " (" + counted(denied_actions, "action") + ")";
  } else if (claim == ClaimTerm::kEvaluated) {
    text += " (" + counted(evaluated_actions, "action") + ")";
  } else if (claim == ClaimTerm::kObserved) {
    text += " (" + counted(observations, "action") + ")";
  }
  return text;
}

const DomainClaim& RunClaims::of(schema::Domain domain) const {
  return domains.at(static_cast<std::size_t>(domain));
}

RunClaims derive(const RunFacts& facts) {
  RunClaims claims;
  claims.started = facts.started().has_value();
  claims.state = state_of(facts);
  claims.program_may_have_run =
      !claims.started && facts.recovered() && facts.recovered()->body.program_may_have_run;
  set_posture(facts, claims);
  if (!facts.opened()) {
    leave_underived(facts, OpenQuestion::kRunOpenedMissing, claims);
    return claims;
  }
  claims.rules = facts.opened()->body.claims_rules;
  claims.rules_known = claims.rules == kClaimsRules;
  if (!claims.rules_known) {
    leave_underived(facts, OpenQuestion::kClaimsRulesUnknown, claims);
    return claims;
  }
  claims.channel = run_channel(facts);
  for (const auto& [domain, name] : schema::EnumNames<schema::Domain>::kTokens) {
    claims.domains.at(static_cast<std::size_t>(domain)) =
        derive_domain(facts, domain, claims.channel);
  }
  claims.contradictions = all_contradictions(facts).list();
  claims.witness = view_witness(facts);
  claims.open_questions = open_questions(facts, claims);
  return claims;
}

}  // namespace aasm::claims
