#include <algorithm>
#include <cstddef>

#include "aasm/claims/report.h"

#include "text.h"

namespace aasm::claims {
namespace {

using schema::Domain;
using schema::OutcomeKind;
using schema::RequirementOutcome;

ControlState state_of_outcome(const RequirementOutcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::kEnforced:
      return ControlState::kPrevention;
    case OutcomeKind::kObserved:
      return ControlState::kObserveOnly;
    case OutcomeKind::kDegraded:
      return ControlState::kDegraded;
    case OutcomeKind::kUnmet:
      return outcome.reason == schema::RefusalReason::kDomainUnsupported
                 ? ControlState::kUnsupported
                 : ControlState::kUnmeasured;
    case OutcomeKind::kNoBoundary:
      return ControlState::kUnmeasured;
  }
  return ControlState::kUnmeasured;
}

std::string reason_of_outcome(const RequirementOutcome& outcome) {
  std::string reason = outcome.reason ? name_of(*outcome.reason) : name_of(outcome.kind);
  return outcome.detail.empty() ? reason : reason + ": " + outcome.detail;
}

std::string detail_of_outcome(const RequirementOutcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::kEnforced:
    case OutcomeKind::kObserved:
      return "timing=" + name_of(outcome.timing) + ", descendants=" + name_of(outcome.descendants);
    case OutcomeKind::kDegraded:
      return "planned=" + outcome.planned + ", achieved=" + outcome.achieved +
             ", reason=" + reason_of_outcome(outcome);
    case OutcomeKind::kUnmet:
    case OutcomeKind::kNoBoundary:
      return reason_of_outcome(outcome);
  }
  return "";
}

const schema::Refusal* refusal_of(const RunFacts& facts, Domain domain) {
  if (!facts.refused()) {
    return nullptr;
  }
  const auto& refusals = facts.refused()->body.refusals;
  const auto at = std::find_if(refusals.begin(), refusals.end(),
                               [&](const auto& one) { return one.domain == domain; });
  return at == refusals.end() ? nullptr : &*at;
}

void set_state_without_outcome(const RunFacts& facts, DomainReport& row) {
  if (!row.claim.stated) {
    row.state_detail = "no_control_requested";
    return;
  }
  const schema::Refusal* refusal = refusal_of(facts, row.claim.domain);
  if (refusal == nullptr || !refusal->reason) {
    row.state_detail = "inconclusive: no outcome is recorded";
    return;
  }
  const bool unsupported = *refusal->reason == schema::RefusalReason::kDomainUnsupported;
  row.state = unsupported ? ControlState::kUnsupported : ControlState::kUnmeasured;
  row.state_detail = name_of(*refusal->reason);
}

std::string gap_text(const schema::PolicyGap& gap) {
  return gap.node + ": " + gap.reason;
}

DomainReport build_domain(const RunFacts& facts, const DomainClaim& claim) {
  DomainReport row;
  row.claim = claim;
  if (facts.policy()) {
    row.requested = claim.stated ? RequestedControl::kStated : RequestedControl::kNotStated;
    for (const schema::PolicyGap& gap : facts.policy()->body.gaps) {
      if (gap.domain == claim.domain) {
        row.policy_gaps.push_back(gap_text(gap));
      }
    }
  }
  const RequirementOutcome* outcome = facts.outcome(claim.domain);
  if (outcome != nullptr && claim.stated) {
    row.state = state_of_outcome(*outcome);
    row.state_detail = detail_of_outcome(*outcome);
  } else {
    set_state_without_outcome(facts, row);
  }
  return row;
}

void add_opened(const RunFacts& facts, IsolationReport& report) {
  if (!facts.opened()) {
    return;
  }
  const schema::RunOpened& opened = facts.opened()->body;
  report.identity = opened.identity;
  report.session_id = opened.session_id;
  report.trace_id = opened.trace_id;
  report.target_program = opened.program;
  report.target_arg_count = opened.arg_count;
  report.isolation = name_of(opened.isolation);
  report.enforcement_mode = opened.enforcement_mode;
}

std::string why_unavailable(const RunFacts& facts) {
  std::vector<std::string> reasons;
  for (const HeldProbe& probe : facts.probes()) {
    if (!probe.body.available) {
      reasons.push_back(probe.body.backend.id + ": " + probe.body.unavailable_reason);
    }
  }
  return joined(reasons, "; ");
}

void add_plan(const RunFacts& facts, IsolationReport& report) {
  report.backend_unavailable = why_unavailable(facts);
  if (facts.plan()) {
    const schema::PlanResolved& plan = facts.plan()->body;
    report.backend = plan.backend;
    report.experimental = plan.experimental;
    report.selection = plan.selection;
    report.candidates = plan.candidates;
    report.plan_digest = plan.digest;
  } else if (facts.refused()) {
    report.selection = facts.refused()->body.selection;
    report.candidates = facts.refused()->body.candidates;
  }
  if (facts.refused()) {
    report.refusals = facts.refused()->body.refusals;
  }
}

void add_policy(const RunFacts& facts, IsolationReport& report) {
  if (!facts.policy()) {
    return;
  }
  report.policy_source = facts.policy()->body.source;
  for (const schema::PolicyGap& gap : facts.policy()->body.gaps) {
    if (!gap.domain) {
      report.policy_gaps.push_back(gap_text(gap));
    }
  }
  for (const schema::PolicyGap& gap : facts.policy()->body.unmapped) {
    report.policy_unmapped.push_back(gap_text(gap));
  }
}

void add_credentials(const RunFacts& facts, IsolationReport& report) {
  report.credentials = facts.credentials();
  report.descriptors = facts.descriptors();
  if (const schema::AmbientAuthority* held = facts.ambient()) {
    report.ambient = *held;
  }
  for (const std::string& name : report.credentials.removed) {
    const auto passed_on = [&](const std::vector<std::string>& names) {
      return std::binary_search(names.begin(), names.end(), name);
    };
    if (passed_on(report.credentials.delegated) ||
        passed_on(report.credentials.ambient_unremoved)) {
      report.credential_contradictions.push_back(name);
    }
  }
}

bool environment_installed(const RunFacts& facts) {
  return std::any_of(facts.controls().begin(), facts.controls().end(), [](const auto& control) {
    return control.body.id == "environment" && control.body.installed &&
           control.body.purpose == schema::Purpose::kPolicy;
  });
}

// What the inventory of the launcher says against it; a missing one is no clean one.
std::vector<std::string> inventory_reasons(const std::optional<schema::AmbientAuthority>& held) {
  if (!held || !held->descriptors_listed) {
    return {std::string(kNoInventoryReason)};
  }
  const auto residual = std::count_if(
      held->descriptors.begin(), held->descriptors.end(),
      [](const auto& one) { return one.fate == schema::AuthorityFate::kAmbientUnremoved; });
  if (residual == 0) {
    return {};
  }
  return {counted(residual, "inherited descriptor") + " passed on that policy does not name"};
}

// Every reason against least authority that the records give; none means nothing spoke against it.
std::vector<std::string> authority_reasons(const RunFacts& facts, const IsolationReport& report) {
  std::vector<std::string> reasons;
  const RequirementOutcome* outcome = facts.outcome(Domain::kCredential);
  if (facts.requirement(Domain::kCredential) == nullptr) {
    reasons.emplace_back("policy does not state the credential domain");
  } else if (outcome == nullptr || outcome->kind != OutcomeKind::kEnforced) {
    reasons.emplace_back("the credential requirement is not planned as enforced");
  } else if (facts.started() && !environment_installed(facts)) {
    reasons.emplace_back("no environment control is recorded as installed");
  }
  if (!report.credentials.ambient_unremoved.empty()) {
    reasons.push_back(
        counted(static_cast<std::int64_t>(report.credentials.ambient_unremoved.size()),
                "environment name") +
        " passed on that policy does not name");
  }
  for (std::string& reason : inventory_reasons(report.ambient)) {
    reasons.push_back(std::move(reason));
  }
  if (!report.credential_contradictions.empty()) {
    reasons.emplace_back("a name is reported both as removed and as passed on");
  }
  return reasons;
}

}  // namespace

IsolationReport build_report(const RunFacts& facts, const RunClaims& claims,
                             std::string_view run_id) {
  IsolationReport report;
  report.stage = claims.started ? ReportStage::kPostRun : ReportStage::kPreLaunch;
  report.run_id = run_id;
  report.claims = claims;
  add_opened(facts, report);
  add_plan(facts, report);
  add_policy(facts, report);
  add_credentials(facts, report);
  for (const DomainClaim& claim : claims.domains) {
    report.domains.push_back(build_domain(facts, claim));
  }
  if (facts.exited()) {
    report.exit_cause = facts.exited()->body.cause;
    report.exit_status = facts.exited()->body.status;
    report.exit_signal = facts.exited()->body.signal;
  }
  report.least_authority_reasons = authority_reasons(facts, report);
  report.least_authority = report.least_authority_reasons.empty();
  return report;
}

}  // namespace aasm::claims
