#include "observing.h"

#include "lowering.h"

namespace aasm::backend_native {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Domain;

bool can_be_observed(Domain domain) {
  switch (domain) {
    case Domain::kFilesystemRead:
    case Domain::kFilesystemWrite:
    case Domain::kNetworkEgress:
    case Domain::kNameResolution:
    case Domain::kSyscall:
    case Domain::kProcessCreation:
    case Domain::kIpc:
      return true;
    case Domain::kCredential:
    case Domain::kResource:
      break;
  }
  return false;
}

Observing::Observing(const schema::PlanResolved& plan,
                     const std::vector<schema::Requirement>& requirements) {
  for (const schema::RequirementOutcome& outcome : plan.outcomes) {
    const schema::Requirement* requirement = requirement_on(requirements, outcome.domain);
    if (outcome.kind != schema::OutcomeKind::kObserved || requirement == nullptr) {
      continue;
    }
    std::set<std::string>& rules = refusing_[outcome.domain];
    rules.insert(requirement->default_rule);
    for (const schema::PolicyRule& rule : requirement->rules) {
      // A ceiling is a rule that allows, and is what a refusal cites.
      if (rule.effect == schema::RuleEffect::kDeny ||
          rule.selector.type == schema::SelectorType::kLimit) {
        rules.insert(rule.id);
      }
    }
  }
}

std::vector<Domain> Observing::domains() const {
  std::vector<Domain> domains;
  for (const auto& [domain, unused] : refusing_) {
    domains.push_back(domain);
  }
  return domains;
}

bool Observing::refuses(const schema::Event& event) const {
  const auto found = refusing_.find(event.domain);
  return found != refusing_.end() && found->second.contains(event.rule);
}

bool Observing::lets_through(const schema::Event& refusal) const {
  return refusal.outcome == DecisionOutcome::kDenied && refusal.cause == DecisionCause::kPolicy &&
         refuses(refusal);
}

Observing::Form Observing::form_of(const schema::Event& event) const {
  if (!covers(event.domain)) {
    return Form::kDecision;
  }
  if (event.cause == DecisionCause::kHostPermission) {
    return Form::kObservation;
  }
  if (event.outcome != DecisionOutcome::kAllowed || event.cause != DecisionCause::kPolicy) {
    return Form::kDecision;
  }
  return refuses(event) ? Form::kObservation : Form::kUnrecorded;
}

schema::Event seen(schema::Event refusal) {
  refusal.outcome = DecisionOutcome::kAllowed;
  refusal.os_errno = 0;
  return refusal;
}

}  // namespace aasm::backend_native
