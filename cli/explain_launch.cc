#include "explain_launch.h"

#include <algorithm>

#include "earlier_probes.h"
#include "run_ledger.h"

namespace aasm::cli {
namespace {

using planner::PlanningOutcome;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Takes what was measured earlier, and nothing else.
struct Measured {
  EarlierProbes probes;
  bool missing = false;

  Result<schema::CapabilityProbed> of(const planner::Backend& backend,
                                      const schema::HostConditions& conditions) {
    if (auto found = probes.find(backend.identity().id, conditions); found && *found) {
      return std::move(**found);
    }
    missing = true;
    return Error(ErrorCode::kNotFound, "not measured");
  }
};

LaunchOutlook refused(const schema::PlanRefused& record, bool measured) {
  LaunchOutlook outlook{"refused", nullptr, {}, {}};
  for (const schema::Refusal& one : record.refusals) {
    if (measured || one.launch != schema::LaunchRefusal::kBackendUnavailable) {
      outlook.notes.emplace_back(one.reason ? token(*one.reason) : token(one.launch), one.detail);
    }
  }
  if (outlook.notes.empty()) {
    outlook.word = "not_measured";
    outlook.notes.emplace_back(
        "not_measured",
        "no run on record has measured this host as it is now, so whether it gives this boundary "
        "is not said; `aasm policy check` measures");
  }
  return outlook;
}

LaunchOutlook planned(const schema::PlanResolved& plan) {
  LaunchOutlook outlook{std::string(token(plan.posture)), nullptr, {}, {}};
  for (const schema::RequirementOutcome& one : plan.outcomes) {
    if (one.kind == schema::OutcomeKind::kDegraded || one.kind == schema::OutcomeKind::kUnmet) {
      outlook.notes.emplace_back(std::string(token(one.kind)),
                                 std::string(token(one.domain)) + ": planned " + one.planned +
                                     ", achieved " + one.achieved + "; " + one.detail);
    }
  }
  return outlook;
}

}  // namespace

LaunchOutlook look_at_launch(const Launch& launch, const RunCommand& command) {
  Measured measured{EarlierProbes(ledger_paths(launch.home, command.common))};
  const PlanningOutcome outcome = plan_launch(launch, command, [&](planner::Backend& backend) {
    return measured.of(backend, launch.conditions);
  });
  LaunchOutlook outlook = outcome.refused() != nullptr
                              ? refused(*outcome.refused(), !measured.missing)
                              : planned(*outcome.plan());
  outlook.asked = outcome.backend;
  if (outcome.backend != nullptr) {
    outlook.backend = outcome.backend->identity().id;
  } else if (launch.policy.record.state == schema::PolicyState::kEnforced &&
             !launch.backends.empty()) {
    outlook.asked = launch.backends.front().get();
  }
  return outlook;
}

}  // namespace aasm::cli
