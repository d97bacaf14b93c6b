#include "oracle.h"

#include <algorithm>
#include <string>

namespace aasm::claims::test {
namespace {

using namespace schema;  // NOLINT(google-build-using-namespace): names of the text, nothing else.

template <class T>
const Step* first(const Records& run) {
  for (const Step& step : run) {
    if (std::holds_alternative<T>(step.body)) {
      return &step;
    }
  }
  return nullptr;
}
template <class T>
const T* body(const Records& run) {
  const Step* step = first<T>(run);
  return step == nullptr ? nullptr : std::get_if<T>(&step->body);
}

// "same run, same boot, right signer"
bool sound(const Records& run, const Step& step) {
  const Step* opened = first<RunOpened>(run);
  return opened != nullptr && opened->signer_ok && step.seq >= opened->seq &&
         step.boot == opened->boot && step.signer_ok;
}

bool sound_start(const Records& run) {
  const Step* started = first<ProcessStarted>(run);
  return started != nullptr && sound(run, *started);
}

bool is_workload(const Records& run, const Step& step) {
  return sound_start(run) && sound(run, step) && step.seq > first<ProcessStarted>(run)->seq;
}

// "its rule id names a requirement on D in this run's policy.resolved"; what a decision leans on
// stands before it.
const Requirement* stated(const Records& run, Domain domain, const Step& before) {
  const Step* policy = first<PolicyResolved>(run);
  if (policy == nullptr || policy->seq > before.seq) {
    return nullptr;
  }
  for (const Requirement& one : std::get<PolicyResolved>(policy->body).requirements) {
    if (one.domain == domain) {
      return &one;
    }
  }
  return nullptr;
}

bool has_operation(const Requirement& requirement, const std::string& operation) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const auto& rule) { return rule.operation == operation; });
}

bool names(const Requirement& requirement, const std::string& rule) {
  bool found = requirement.default_rule == rule;
  for (const PolicyRule& one : requirement.rules) {
    found = found || one.id == rule;
  }
  return found;
}

bool lists(const Control& control, const std::string& rule) {
  return std::count(control.rules.begin(), control.rules.end(), rule) > 0;
}

// "is listed, with purpose policy, in a control.prepared of this run that installed its mechanism;
// seq(control) < seq(process.started)"
bool control_carries(const Records& run, const Event& event) {
  for (const Step& step : run) {
    const auto* prepared = std::get_if<ControlPrepared>(&step.body);
    if (prepared == nullptr || !sound(run, step) || step.seq > first<ProcessStarted>(run)->seq) {
      continue;
    }
    for (const Control& control : prepared->controls) {
      if (control.purpose == Purpose::kPolicy && control.installed &&
          control.mechanism == event.mechanism && lists(control, event.rule)) {
        return true;
      }
    }
  }
  return false;
}

bool reply_taken(const Records& run, const Event& event) {
  const auto* policy = body<PolicyResolved>(run);
  return event.reply == ReplyState::kAccepted || (event.reply == ReplyState::kKilledWhileBlocked &&
                                                  policy != nullptr && policy->kills(event.domain));
}

bool rule_two(const Records& run, const Step& step, const Event& event, Domain domain) {
  if (!is_workload(run, step) || event.domain != domain) {
    return false;
  }
  const Step* policy = first<PolicyResolved>(run);
  const Requirement* requirement = stated(run, domain, step);
  return requirement != nullptr && sound(run, *policy) &&
         policy->seq < first<ProcessStarted>(run)->seq && names(*requirement, event.rule) &&
         event.outcome == DecisionOutcome::kDenied && event.cause == DecisionCause::kPolicy &&
         event.timing == Timing::kPre && event.synchrony == Synchrony::kSync &&
         event.rule.rfind("self_protection.", 0) != 0 && reply_taken(run, event) &&
         !event.mechanism.empty() && control_carries(run, event);
}

// A rule that self-protection alone carries never counts.
bool self_protection_alone(const Records& run, const Step& before, const std::string& rule) {
  bool by_policy = false;
  bool by_guard = rule.rfind("self_protection.", 0) == 0;
  if (by_guard) {
    return true;
  }
  for (const Step& step : run) {
    const auto* prepared = std::get_if<ControlPrepared>(&step.body);
    if (prepared == nullptr || step.seq > before.seq) {
      continue;
    }
    for (const Control& control : prepared->controls) {
      (control.purpose == Purpose::kPolicy ? by_policy : by_guard) |= lists(control, rule);
    }
  }
  return by_guard && !by_policy;
}

bool rule_three(const Records& run, const Step& step, const Event& event, Domain domain) {
  return is_workload(run, step) && event.domain == domain && stated(run, domain, step) != nullptr &&
         !rule_two(run, step, event, domain) &&
         (event.cause == DecisionCause::kPolicy || event.cause == DecisionCause::kHostPermission ||
          event.cause == DecisionCause::kAmbiguous) &&
         !self_protection_alone(run, step, event.rule);
}

bool rule_four(const Records& run, Domain domain, const Requirement& requirement) {
  const Step* step = first<ProcessExited>(run);
  if (domain != Domain::kResource || step == nullptr || !is_workload(run, *step)) {
    return false;
  }
  const ExitCause cause = std::get<ProcessExited>(step->body).cause;
  return (cause == ExitCause::kWallClock && has_operation(requirement, "wall_clock_seconds")) ||
         (cause == ExitCause::kMemoryLimit && has_operation(requirement, "memory_bytes"));
}

const RequirementOutcome* planned(const Records& run, Domain domain) {
  const auto* plan = body<PlanResolved>(run);
  if (plan == nullptr) {
    return nullptr;
  }
  for (const RequirementOutcome& one : plan->outcomes) {
    if (one.domain == domain) {
      return &one;
    }
  }
  return nullptr;
}

bool unsupported(const RequirementOutcome* outcome) {
  return outcome != nullptr && outcome->kind == OutcomeKind::kUnmet &&
         outcome->reason == RefusalReason::kDomainUnsupported;
}

ClaimTerm before_start(const Records& run, Domain domain) {
  const RequirementOutcome* outcome = planned(run, domain);
  if (outcome == nullptr) {
    const auto* refused = body<PlanRefused>(run);
    bool told = false;
    if (refused != nullptr) {
      for (const Refusal& one : refused->refusals) {
        told = told || (one.domain == domain && one.reason == RefusalReason::kDomainUnsupported);
      }
    }
    return told ? ClaimTerm::kUnsupported : ClaimTerm::kUnmeasured;
  }
  if (outcome->kind == OutcomeKind::kEnforced || outcome->kind == OutcomeKind::kObserved) {
    return ClaimTerm::kPlanned;
  }
  if (outcome->kind == OutcomeKind::kDegraded) {
    return ClaimTerm::kDegraded;
  }
  return unsupported(outcome) ? ClaimTerm::kUnsupported : ClaimTerm::kUnmeasured;
}

struct Seen {
  std::int64_t denied = 0;
  bool evaluated = false;
  bool observed = false;
};

Seen look(const Records& run, Domain domain) {
  Seen seen;
  for (const Step& step : run) {
    if (const auto* batch = std::get_if<DecisionBatch>(&step.body)) {
      for (const Event& event : batch->events) {
        seen.denied += rule_two(run, step, event, domain) ? event.count : 0;
        seen.evaluated = seen.evaluated || rule_three(run, step, event, domain);
      }
    }
    if (const auto* batch = std::get_if<ObservationBatch>(&step.body)) {
      for (const Event& event : batch->events) {
        seen.observed = seen.observed || (event.domain == domain && is_workload(run, step));
      }
    }
  }
  return seen;
}

}  // namespace

bool oracle_counts(const Records& run, const Step& step, const Event& event, Domain domain) {
  return rule_two(run, step, event, domain);
}

OracleAnswer oracle(const Records& run, Domain domain) {
  const auto* opened = body<RunOpened>(run);
  const auto* policy = body<PolicyResolved>(run);
  if (opened == nullptr || opened->claims_rules != "claims/1" || policy == nullptr) {
    return {};
  }
  const Requirement* requirement = stated(run, domain, run.back());
  if (requirement == nullptr) {
    return {};
  }
  if (first<ProcessStarted>(run) == nullptr) {
    return {before_start(run, domain), 0};
  }
  const Seen seen = look(run, domain);
  const auto* plan = body<PlanResolved>(run);
  const RequirementOutcome* outcome = planned(run, domain);
  ClaimTerm term = unsupported(outcome) ? ClaimTerm::kUnsupported : ClaimTerm::kUnmeasured;
  if (plan != nullptr && plan->experimental) {
    term = ClaimTerm::kExperimental;
  } else if (outcome != nullptr && outcome->kind == OutcomeKind::kDegraded) {
    term = ClaimTerm::kDegraded;
  } else if (seen.denied > 0) {
    term = ClaimTerm::kDeniedBeforeExecution;
  } else if (seen.evaluated) {
    term = ClaimTerm::kEvaluated;
  } else if (rule_four(run, domain, *requirement)) {
    term = ClaimTerm::kDetected;
  } else if (seen.observed) {
    term = ClaimTerm::kObserved;
  }
  return {term, seen.denied};
}

}  // namespace aasm::claims::test
