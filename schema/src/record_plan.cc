#include "aasm/schema/record_plan.h"

#include <algorithm>

namespace aasm::schema {
namespace {

Error invalid(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

template <class T>
bool domain_twice(const std::vector<T>& list) {
  for (auto at = list.begin(); at != list.end(); ++at) {
    if (std::any_of(std::next(at), list.end(),
                    [&](const T& other) { return other.domain == at->domain; })) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<void> DomainCapability::check() const {
  switch (support) {
    case Support::kUnsupported:
      if (reason.empty() || mediation != Mediation::kNone || timing != Timing::kNone ||
          synchrony != Synchrony::kNone) {
        return invalid("an unsupported domain has a reason and no mechanism");
      }
      return {};
    case Support::kPartial:
      return limitations.empty() ? Result<void>(invalid("partial support states its limitations"))
                                 : Result<void>();
    case Support::kFull:
      return limitations.empty() ? Result<void>()
                                 : Result<void>(invalid("full support has no limitations"));
  }
  std::abort();
}

bool DomainCapability::can_prevent() const {
  return support != Support::kUnsupported && mediation == Mediation::kEnforce &&
         timing == Timing::kPre && synchrony == Synchrony::kSync &&
         std::all_of(prerequisites.begin(), prerequisites.end(), [](const Prerequisite& one) {
           return one.status == PrerequisiteStatus::kSatisfied;
         });
}

bool DomainCapability::can_observe() const {
  return support != Support::kUnsupported && mediation != Mediation::kNone &&
         timing != Timing::kNone;
}

Result<void> CapabilityProbed::check() const {
  if (domain_twice(domains)) {
    return invalid("two reports on one domain");
  }
  if (available != unavailable_reason.empty()) {
    return invalid("a backend is available or says why not");
  }
  if (reference && !domains.empty()) {
    return invalid("a reference to an earlier probe carries no domains of its own");
  }
  return {};
}

const DomainCapability* CapabilityProbed::find(Domain domain) const {
  const auto at = std::find_if(domains.begin(), domains.end(),
                               [&](const DomainCapability& one) { return one.domain == domain; });
  return at == domains.end() ? nullptr : &*at;
}

Result<void> RequirementOutcome::check() const {
  const bool short_of = kind == OutcomeKind::kDegraded || kind == OutcomeKind::kUnmet;
  if (short_of != reason.has_value()) {
    return invalid("an outcome has a reason exactly when it falls short");
  }
  if (kind == OutcomeKind::kDegraded && (planned.empty() || achieved.empty())) {
    return invalid("a degraded outcome states both levels");
  }
  return {};
}

Result<void> PlanResolved::check() const {
  if (domain_twice(outcomes)) {
    return invalid("two outcomes for one domain");
  }
  const bool none = requested == IsolationClass::kNone;
  if (none == backend.has_value()) {
    return invalid("a plan has a backend exactly when isolation is asked for");
  }
  if (none != (posture == LaunchPosture::kUnconfined)) {
    return invalid("a launch is unconfined exactly when isolation is none");
  }
  const bool degraded = std::any_of(outcomes.begin(), outcomes.end(), [](const auto& one) {
    return one.kind == OutcomeKind::kDegraded;
  });
  if (degraded && posture == LaunchPosture::kReady) {
    return invalid("a degraded outcome in a plan that says ready");
  }
  return {};
}

const RequirementOutcome* PlanResolved::outcome_for(Domain domain) const {
  const auto at = std::find_if(outcomes.begin(), outcomes.end(),
                               [&](const RequirementOutcome& one) { return one.domain == domain; });
  return at == outcomes.end() ? nullptr : &*at;
}

Result<void> Refusal::check() const {
  const bool unmet = launch == LaunchRefusal::kRequirementUnmet;
  if (unmet != domain.has_value()) {
    return invalid("an unmet requirement names its domain, and nothing else does");
  }
  const bool prerequisite = launch == LaunchRefusal::kBackendUnavailable &&
                            reason == RefusalReason::kPrerequisiteUnsatisfied;
  if (unmet != reason.has_value() && !prerequisite) {
    return invalid("an unmet requirement names its reason, and so may a backend that lacks one");
  }
  if (detail.empty() || fix.empty()) {
    return invalid("a refusal says what is wrong and what to do");
  }
  return {};
}

Result<void> PlanRefused::check() const {
  if (refusals.empty()) {
    return invalid("a refused plan without a reason");
  }
  return {};
}

}  // namespace aasm::schema
