#include "probe_checks.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "text.h"

namespace aasm::claims {
namespace {

using schema::CandidateVerdict;
using schema::CapabilityProbed;
using schema::DescendantCoverage;
using schema::DomainCapability;
using schema::IsolationClass;
using schema::OutcomeKind;
using schema::PlanResolved;
using schema::PlatformBoundary;
using schema::Requirement;
using schema::RequirementOutcome;

// Whether a backend with this platform boundary is of the class.
bool is_of_class(PlatformBoundary boundary, IsolationClass asked) {
  switch (asked) {
    case IsolationClass::kNone:
    case IsolationClass::kAuto:
      return true;
    case IsolationClass::kProcess:
      return boundary == PlatformBoundary::kSharedHostKernel;
    case IsolationClass::kUserspaceKernel:
      return boundary == PlatformBoundary::kUserspaceKernel;
    case IsolationClass::kMicrovm:
      return boundary == PlatformBoundary::kGuestKernel;
  }
  return false;
}

bool reports_decisions(const DomainCapability& capability) {
  return !capability.channel.mechanism.empty() && capability.channel.mechanism != "none";
}

bool covers_descendants(const DomainCapability& capability, const Requirement& requirement) {
  return requirement.descendants != DescendantCoverage::kProcessTree ||
         capability.descendants == DescendantCoverage::kProcessTree;
}

// Why the outcome promises more than what was measured; empty when it does not.
std::string excess(const RequirementOutcome& outcome, const Requirement& requirement,
                   const DomainCapability* measured) {
  if (measured == nullptr) {
    return "the probe does not report it";
  }
  if (measured->support == schema::Support::kUnsupported) {
    return "the probe says unsupported";
  }
  if (outcome.kind == OutcomeKind::kEnforced ? !measured->can_prevent()
                                             : !measured->can_observe()) {
    return "the probe shows no such mediation";
  }
  if (!covers_descendants(*measured, requirement)) {
    return "the probe does not show it for descendants";
  }
  const bool wants_decisions = requirement.evidence != schema::EvidenceWish::kSetup;
  return wants_decisions && !reports_decisions(*measured) ? "the probe names no decision channel"
                                                          : "";
}

// Whether the level that a degraded outcome says it achieves is one that was measured. Levels are
// those of the planner: one word, and after a comma what evidence or which processes are left.
bool is_achieved(std::string_view level, const Requirement& requirement,
                 const DomainCapability* measured) {
  const std::string_view word = level.substr(0, level.find(','));
  if (word == "none") {
    return true;
  }
  if (measured == nullptr) {
    return false;
  }
  if (word == "observe") {
    const std::string of_some = ", descendants " + name_of(measured->descendants);
    return measured->can_observe() && reports_decisions(*measured) &&
           (covers_descendants(*measured, requirement) || level.substr(word.size()) == of_some);
  }
  return word == "prevent_before_effect" && measured->can_prevent() &&
         covers_descendants(*measured, requirement);
}

void check_classes(const RunFacts& facts, ContradictionLog& log) {
  const PlanResolved& plan = facts.plan()->body;
  if (facts.opened() && plan.requested != facts.opened()->body.isolation) {
    log.note(ContradictionCode::kIsolationClassDiffers, facts.plan()->mark.seq,
             "run.opened says " + name_of(facts.opened()->body.isolation) + ", the plan " +
                 name_of(plan.requested));
  }
}

void check_backend(const RunFacts& facts, const HeldProbe& probe, ContradictionLog& log) {
  const PlanResolved& plan = facts.plan()->body;
  const std::int64_t seq = facts.plan()->mark.seq;
  if (!probe.body.available || (probe.referenced && !probe.referenced->available)) {
    log.note(ContradictionCode::kBackendWasUnavailable, seq,
             "the probe of backend " + shown(plan.backend->id) + " says that it is not available");
  }
  for (const PlatformBoundary boundary :
       {probe.body.boundary, probe.referenced ? probe.referenced->boundary : probe.body.boundary}) {
    if (!is_of_class(boundary, plan.requested)) {
      log.note(ContradictionCode::kIsolationClassDiffers, seq,
               "asked for " + name_of(plan.requested) + ", and the backend's boundary is " +
                   name_of(boundary));
    }
  }
}

// A backend that the walk over the candidates did not select.
void check_candidates(const RunFacts& facts, ContradictionLog& log) {
  const PlanResolved& plan = facts.plan()->body;
  for (const schema::Candidate& candidate : plan.candidates) {
    const bool selected = candidate.verdict == CandidateVerdict::kSelected;
    if (selected != (candidate.backend == plan.backend->id)) {
      log.note(ContradictionCode::kBackendWasUnavailable, facts.plan()->mark.seq,
               "candidate " + shown(candidate.backend) + " is " + name_of(candidate.verdict) +
                   ", and the plan's backend is " + shown(plan.backend->id));
    }
  }
}

void check_promises(const RunFacts& facts, const CapabilityProbed& measured,
                    ContradictionLog& log) {
  for (const RequirementOutcome& outcome : facts.plan()->body.outcomes) {
    const Requirement* requirement = facts.requirement(outcome.domain);
    if (requirement == nullptr) {
      continue;
    }
    const DomainCapability* domain = measured.find(outcome.domain);
    const bool promised =
        outcome.kind == OutcomeKind::kEnforced || outcome.kind == OutcomeKind::kObserved;
    const std::string fault = promised ? excess(outcome, *requirement, domain) : "";
    if (!fault.empty()) {
      log.note(ContradictionCode::kOutcomeExceedsProbe, facts.plan()->mark.seq,
               name_of(outcome.domain) + ": " + name_of(outcome.kind) + ", and " + fault);
    }
    if (outcome.kind == OutcomeKind::kDegraded &&
        !is_achieved(outcome.achieved, *requirement, domain)) {
      log.note(ContradictionCode::kDegradedExceedsProbe, facts.plan()->mark.seq,
               name_of(outcome.domain) + ": achieved " + shown(outcome.achieved));
    }
  }
}

}  // namespace

void check_plan_against_probe(const RunFacts& facts, ContradictionLog& log) {
  if (!facts.plan()) {
    return;
  }
  check_classes(facts, log);
  if (!facts.plan()->body.backend) {
    return;
  }
  check_candidates(facts, log);
  const auto& probes = facts.probes();
  const auto own = std::find_if(probes.begin(), probes.end(), [&](const HeldProbe& probe) {
    return probe.body.backend.id == facts.plan()->body.backend->id;
  });
  if (own == probes.end()) {
    return;  // probe_missing
  }
  check_backend(facts, *own, log);
  if (const CapabilityProbed* measured = facts.measured()) {
    check_promises(facts, *measured, log);
  }
}

}  // namespace aasm::claims
