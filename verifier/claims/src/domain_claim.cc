#include "domain_claim.h"

#include <algorithm>
#include <cstddef>

#include "channel_state.h"
#include "ended_by_limit.h"
#include "requested_text.h"
#include "text.h"

namespace aasm::claims {
namespace {

using schema::Basis;
using schema::BoundaryState;
using schema::ClaimTerm;
using schema::Control;
using schema::Domain;
using schema::OutcomeKind;
using schema::Purpose;
using schema::RefusalReason;
using schema::RequirementOutcome;

// True for the term of an outcome that falls short for want of a mechanism.
ClaimTerm term_of_shortfall(bool domain_unsupported) {
  return domain_unsupported ? ClaimTerm::kUnsupported : ClaimTerm::kUnmeasured;
}

bool is_unsupported(const RequirementOutcome& outcome) {
  return outcome.kind == OutcomeKind::kUnmet && outcome.reason == RefusalReason::kDomainUnsupported;
}

bool is_refused_as_unsupported(const RunFacts& facts, Domain domain) {
  if (!facts.refused()) {
    return false;
  }
  const auto& refusals = facts.refused()->body.refusals;
  return std::any_of(refusals.begin(), refusals.end(), [&](const schema::Refusal& one) {
    return one.domain == domain && one.reason == RefusalReason::kDomainUnsupported;
  });
}

ClaimTerm term_without_start(const RunFacts& facts, Domain domain) {
  const RequirementOutcome* outcome = facts.outcome(domain);
  if (outcome == nullptr) {
    return term_of_shortfall(is_refused_as_unsupported(facts, domain));
  }
  switch (outcome->kind) {
    case OutcomeKind::kEnforced:
    case OutcomeKind::kObserved:
      return ClaimTerm::kPlanned;
    case OutcomeKind::kDegraded:
      return ClaimTerm::kDegraded;
    case OutcomeKind::kUnmet:
      return term_of_shortfall(is_unsupported(*outcome));
    case OutcomeKind::kNoBoundary:
      return ClaimTerm::kUnmeasured;
  }
  return ClaimTerm::kUnmeasured;
}

// Rule 4: the limit that ended the program, when policy states it. Empty otherwise.
std::string detector_of(const RunFacts& facts, Domain domain) {
  const schema::Requirement* requirement = facts.requirement(domain);
  if (domain != Domain::kResource || requirement == nullptr || !facts.exited() ||
      !facts.is_workload(facts.exited()->mark)) {
    return "";
  }
  const schema::ExitCause cause = facts.exited()->body.cause;
  if (!states_limit(*requirement, limit_of(cause))) {
    return "";
  }
  return cause == schema::ExitCause::kWallClock ? "the supervisor's wall clock"
                                                : "the memory limit of the control group";
}

// The first rule that holds for a program that started.
ClaimTerm term_after_start(const RunFacts& facts, const DomainClaim& claim) {
  const RequirementOutcome* outcome = facts.outcome(claim.domain);
  if (facts.plan() && facts.plan()->body.experimental) {
    return ClaimTerm::kExperimental;
  }
  if (outcome != nullptr && outcome->kind == OutcomeKind::kDegraded) {
    return ClaimTerm::kDegraded;
  }
  if (claim.denied_actions > 0) {
    return ClaimTerm::kDeniedBeforeExecution;
  }
  if (claim.evaluated_actions > 0) {
    return ClaimTerm::kEvaluated;
  }
  if (!claim.detector.empty()) {
    return ClaimTerm::kDetected;
  }
  if (claim.observations > 0) {
    return ClaimTerm::kObserved;
  }
  return term_of_shortfall(outcome != nullptr && is_unsupported(*outcome));
}

// Set up before the start by a record that can be evidence.
template <class T>
bool is_setup_evidence(const RunFacts& facts, const Held<T>& held) {
  return held.mark.trustworthy() && facts.before_start(held.mark);
}

bool is_installed_for(const RunFacts& facts, const Held<Control>& control, Domain domain) {
  if (!is_setup_evidence(facts, control) || !control.body.installed ||
      control.body.purpose != Purpose::kPolicy) {
    return false;
  }
  const schema::Requirement* requirement = facts.requirement(domain);
  const auto& rules = control.body.rules;
  return control.body.domain == domain ||
         (requirement != nullptr && std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
            return requirement->names_rule(rule);
          }));
}

bool has_policy_control(const RunFacts& facts, Domain domain) {
  return std::any_of(facts.controls().begin(), facts.controls().end(),
                     [&](const auto& one) { return is_installed_for(facts, one, domain); });
}

struct CanaryView {
  std::string proving;     // id of the first canary that proved
  std::string succeeded;   // id of the first that succeeded inside
  std::string unresolved;  // the first that did neither, in words
};

CanaryView look_at_canaries(const RunFacts& facts, Domain domain) {
  CanaryView view;
  const auto keep = [](std::string& place, std::string text) {
    if (place.empty()) {
      place = std::move(text);
    }
  };
  for (const Held<schema::Canary>& held : facts.canaries()) {
    const schema::Canary& canary = held.body;
    if (canary.domain != domain || canary.purpose != Purpose::kPolicy ||
        !is_setup_evidence(facts, held)) {
      continue;
    }
    if (canary.proves()) {
      keep(view.proving, canary.id);
    } else if (canary.inside.outcome == schema::AttemptOutcome::kSucceeded) {
      keep(view.succeeded, canary.id);
    } else {
      keep(view.unresolved, "canary " + canary.id + ": control " + name_of(canary.control.outcome) +
                                ", inside " + name_of(canary.inside.outcome));
    }
  }
  return view;
}

std::string why_no_canary(const RunFacts& facts, Domain domain) {
  for (const Held<schema::NoCanary>& none : facts.no_canaries()) {
    if (none.body.domain == domain && is_setup_evidence(facts, none)) {
      return "no_canary: " + none.body.reason;
    }
  }
  return "no canary is recorded";
}

bool is_observed(const RunFacts& facts, Domain domain) {
  const RequirementOutcome* outcome = facts.outcome(domain);
  return outcome != nullptr && outcome->kind == OutcomeKind::kObserved;
}

void set_boundary(const RunFacts& facts, DomainClaim& claim) {
  if (is_observed(facts, claim.domain)) {
    claim.boundary = BoundaryState::kAbsent;
    claim.boundary_reason = "the domain is observed: policy refuses nothing there";
    return;
  }
  const CanaryView canaries = look_at_canaries(facts, claim.domain);
  if (!canaries.proving.empty() && canaries.succeeded.empty()) {
    claim.boundary = BoundaryState::kProved;
    claim.boundary_reason = "canary " + canaries.proving;
  } else if (has_policy_control(facts, claim.domain)) {
    claim.boundary = BoundaryState::kInstalled;
    if (!canaries.succeeded.empty()) {
      claim.boundary_reason = "canary " + canaries.succeeded + " succeeded inside";
    } else if (!canaries.unresolved.empty()) {
      claim.boundary_reason = canaries.unresolved;
    } else {
      claim.boundary_reason = why_no_canary(facts, claim.domain);
    }
  } else {
    claim.boundary = BoundaryState::kAbsent;
    claim.boundary_reason = claim.stated ? "no control for policy is installed" : "not stated";
  }
}

Basis basis_of(const RunFacts& facts, const DomainClaim& claim) {
  if (claim.denied_actions > 0 || claim.evaluated_actions > 0) {
    return Basis::kDecision;
  }
  const bool prepared = has_policy_control(facts, claim.domain);
  const bool started = facts.started() && facts.started()->mark.trustworthy();
  if (prepared && started && (claim.observations > 0 || claim.boundary == BoundaryState::kProved)) {
    return Basis::kRuntimeWithoutDecision;
  }
  const RequirementOutcome* outcome = facts.outcome(claim.domain);
  const bool configured = is_observed(facts, claim.domain) ||
                          (outcome != nullptr && outcome->kind == OutcomeKind::kEnforced);
  return prepared || configured ? Basis::kSetupOnly : Basis::kNone;
}

void copy_activity(const DomainActivity& activity, DomainClaim& claim) {
  claim.denied_actions = activity.denied;
  claim.evaluated_actions = activity.evaluated;
  claim.observations = activity.observations;
  if (activity.unlisted > 0) {
    claim.unlisted_actions = activity.unlisted;
  }
  claim.denials = activity.denials.groups();
  claim.denials_ungrouped = activity.denials.ungrouped();
  for (const auto& [rule, actions] : activity.denied_by_rule) {
    claim.denied_by_rule.push_back({rule, actions});
  }
  for (const auto& [conjunct, unused] : schema::EnumNames<Conjunct>::kTokens) {
    const std::int64_t actions = activity.denied_uncounted.at(static_cast<std::size_t>(conjunct));
    if (actions > 0) {
      claim.uncounted_denials.push_back({conjunct, actions});
    }
  }
  for (const auto& [outcome, name] : schema::EnumNames<schema::DecisionOutcome>::kTokens) {
    for (const auto& [cause, words] : schema::EnumNames<schema::DecisionCause>::kTokens) {
      const std::int64_t actions = activity.decisions.at(static_cast<std::size_t>(outcome))
                                       .at(static_cast<std::size_t>(cause));
      if (actions > 0) {
        claim.decisions.push_back({outcome, cause, actions});
      }
    }
  }
}

// The names of the rules, without what is answered for compatibility.
std::string protections_of(const Control& control) {
  constexpr std::string_view kPrefix = "self_protection.";
  std::vector<std::string> names;
  for (const std::string& rule : control.rules) {
    if (rule.starts_with(kPrefix)) {
      names.push_back(rule.substr(kPrefix.size()));
    }
  }
  return joined(names, ", ");
}

std::vector<std::string> closed_by_self_protection(const RunFacts& facts, Domain domain) {
  std::vector<std::string> closed;
  for (const Held<Control>& control : facts.controls()) {
    if (control.body.purpose == Purpose::kSelfProtection && control.body.installed &&
        control.body.domain == domain && is_setup_evidence(facts, control)) {
      const std::string what =
          control.body.note.empty() ? protections_of(control.body) : control.body.note;
      closed.push_back(what.empty() ? control.body.id : control.body.id + ": " + what);
    }
  }
  sort_unique(closed);
  return closed;
}

}  // namespace

DomainClaim derive_domain(const RunFacts& facts, Domain domain, const ChannelView& run) {
  DomainClaim claim;
  claim.domain = domain;
  const schema::Requirement* requirement = facts.requirement(domain);
  claim.stated = requirement != nullptr;
  copy_activity(facts.activity(domain), claim);
  locate_rules(requirement, claim.denials);
  claim.detector = detector_of(facts, domain);
  claim.channel = domain_channel(facts, domain, run);
  const schema::CapabilityProbed* measured = facts.measured();
  if (measured != nullptr && measured->find(domain) != nullptr) {
    claim.channel_scope = measured->find(domain)->channel.scope;
  }
  set_boundary(facts, claim);
  claim.basis = basis_of(facts, claim);
  claim.closed_by_self_protection = closed_by_self_protection(facts, domain);
  if (requirement == nullptr) {
    return claim;
  }
  claim.requested = requested_text(*requirement);
  const RequirementOutcome* outcome = facts.outcome(domain);
  if (outcome != nullptr && outcome->kind == OutcomeKind::kDegraded) {
    claim.planned = outcome->planned;
    claim.achieved = outcome->achieved;
  }
  claim.claim =
      facts.started() ? term_after_start(facts, claim) : term_without_start(facts, domain);
  return claim;
}

}  // namespace aasm::claims
