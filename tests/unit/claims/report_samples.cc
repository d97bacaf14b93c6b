#include "report_samples.h"

#include <utility>

namespace aasm::claims::test {
namespace {

constexpr const char* kRunId = "019b76da-a800-7000-8000-000000000001";

Records refused_run() {
  Records run = sample_preview();
  schema::PlanRefused refused;
  refused.candidates.push_back({"aasm-native",
                                schema::CandidateVerdict::kRejectedRequirementsUnmet,
                                "one requirement is unmet",
                                {schema::Domain::kSyscall}});
  schema::Refusal refusal;
  refusal.domain = schema::Domain::kSyscall;
  refusal.reason = schema::RefusalReason::kPrerequisiteUnsatisfied;
  refusal.detail = "no refused call was watched on this host";
  refusal.fix = "run on a kernel that has seccomp user notification";
  refused.refusals.push_back(refusal);
  step_of<schema::PlanResolved>(run).body = refused;
  schema::RunClosed closed;
  closed.ending = schema::RunEnding::kRefused;
  closed.records = 4;
  append(run, closed);
  return run;
}

Records unconfined_run() {
  Records run = sample_run();
  remove_kind<schema::ControlPrepared>(run);
  remove_kind<schema::BoundaryProved>(run);
  remove_kind<schema::DecisionBatch>(run);
  remove_kind<schema::CapabilityProbed>(run);
  body_of<schema::RunOpened>(run).isolation = schema::IsolationClass::kNone;
  schema::PlanResolved& plan = body_of<schema::PlanResolved>(run);
  plan.requested = schema::IsolationClass::kNone;
  plan.selection = schema::SelectionMode::kNone;
  plan.candidates.clear();
  plan.backend.reset();
  plan.posture = schema::LaunchPosture::kUnconfined;
  for (schema::RequirementOutcome& one : plan.outcomes) {
    schema::RequirementOutcome none;
    none.domain = one.domain;
    none.kind = schema::OutcomeKind::kNoBoundary;
    none.posture = one.posture;
    one = none;
  }
  body_of<schema::RunClosed>(run).channel = {};
  return run;
}

Records interrupted_run() {
  Records run = sample_run();
  remove_kind<schema::ProcessExited>(run);
  remove_kind<schema::RunClosed>(run);
  append(run, schema::RunRecovered{"decision.batch", true});
  run.back().boot = kOtherBoot;
  return run;
}

Records contradicting_run() {
  Records run = sample_run();
  body_of<schema::ProcessStarted>(run).exe_digest = digest_of(0x66);
  body_of<schema::RunClosed>(run).channel.events = 2;
  schema::Event gone = denied_ptrace();
  gone.reply = schema::ReplyState::kCallerGone;
  body_of<schema::DecisionBatch>(run) = decisions({gone, denied_ptrace(), allowed_prctl()});
  return run;
}

Records quiet_run() {
  Records run = sample_run();
  set_events(run, {});
  return run;
}

Records flooded_run() {
  Records run = sample_run();
  schema::Event rest = denied_ptrace();
  rest.object = {};
  rest.object.type = schema::ObjectType::kUnlisted;
  rest.count = 4000;
  rest.pids = 3;
  set_events(run, {denied_ptrace(), allowed_prctl(), rest});
  return run;
}

Records unknown_rules_run() {
  Records run = sample_run();
  body_of<schema::RunOpened>(run).claims_rules = "claims/2";
  return run;
}

IsolationReport preview_report() {
  RunFacts facts = facts_of(sample_preview());
  facts.set_credentials({{"AWS_SECRET_ACCESS_KEY"}, {"PATH"}, {"KUBECONFIG"}});
  return build_report(facts, derive(facts), "");
}

}  // namespace

IsolationReport report_of(const Records& run) {
  const RunFacts facts = facts_of(run);
  return build_report(facts, derive(facts), kRunId);
}

Records hostile_run() {
  const std::string evil = "x\nposture=ready\r\n--- execution isolation ---\x1b[2J\xff\u202e";
  Records run = sample_run();
  schema::RunOpened& opened = body_of<schema::RunOpened>(run);
  opened.identity.agent_id = evil;
  opened.identity.team_id = evil;
  opened.identity.lineage = {evil, evil};
  opened.session_id = evil;
  opened.trace_id = evil;
  opened.program = schema::PathBytes(evil);
  schema::PlanResolved& plan = body_of<schema::PlanResolved>(run);
  plan.backend->version = evil;
  plan.candidates.at(0).reason = evil;
  plan.outcomes.at(4).achieved = evil;
  plan.outcomes.at(5).detail = evil;
  plan.ambient->sensitive.at(0).name = evil;
  schema::PolicyResolved& policy = body_of<schema::PolicyResolved>(run);
  policy.gaps.at(0).reason = evil;
  policy.unmapped.at(0).node = evil;
  policy.requirements.at(0).rules.at(0).selector.value = schema::PathBytes(evil);
  body_of<schema::CapabilityProbed>(run).domains.at(2).channel.scope = evil;
  schema::ControlPrepared& prepared = body_of<schema::ControlPrepared>(run);
  prepared.controls.at(3).names = {evil};
  prepared.controls.at(5).note = evil;
  prepared.failed_step = evil;
  body_of<schema::BoundaryProved>(run).no_canary.at(0).reason = evil;
  policy.source = schema::PathBytes(evil);
  schema::Event denied = denied_ptrace();
  denied.operation = evil;
  denied.object.name = evil;
  denied.executable = schema::PathBytes(evil + std::string(4000, '\xff'));
  set_events(run, {denied});
  return run;
}

std::vector<NamedReport> report_samples() {
  std::vector<NamedReport> samples;
  samples.push_back({"post_run", report_of(sample_run())});
  samples.push_back({"preview", preview_report()});
  samples.push_back({"refused", report_of(refused_run())});
  samples.push_back({"unconfined", report_of(unconfined_run())});
  samples.push_back({"interrupted", report_of(interrupted_run())});
  samples.push_back({"contradicting", report_of(contradicting_run())});
  samples.push_back({"quiet", report_of(quiet_run())});
  samples.push_back({"unknown_rules", report_of(unknown_rules_run())});
  samples.push_back({"flooded", report_of(flooded_run())});
  samples.push_back({"hostile", report_of(hostile_run())});
  return samples;
}

}  // namespace aasm::claims::test
