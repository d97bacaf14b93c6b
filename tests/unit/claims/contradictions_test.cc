#include "aasm/claims/contradictions.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sample_run.h"

namespace aasm::claims::test {
namespace {

using Code = ContradictionCode;
using schema::Domain;

std::vector<Code> codes(const RunFacts& facts) {
  std::vector<Code> found;
  for (const Contradiction& one : derive(facts).contradictions) {
    found.push_back(one.code);
    EXPECT_GE(one.count, 1);
    EXPECT_FALSE(one.detail.empty());
  }
  return found;
}

struct Row {
  const char* why;
  Code expected;
  std::function<void(Records&)> change;
};

schema::RequirementOutcome& first_outcome(Records& run) {
  return body_of<schema::PlanResolved>(run).outcomes.at(0);
}

// What `--observe` records of the domain that the sample has events on.
void observe_syscalls(Records& run) {
  body_of<schema::RunOpened>(run).enforcement_mode = "observe";
  for (schema::RequirementOutcome& outcome : body_of<schema::PlanResolved>(run).outcomes) {
    if (outcome.domain == Domain::kSyscall) {
      outcome.kind = schema::OutcomeKind::kObserved;
    }
  }
}

// Puts the record of kind T directly behind process.started.
template <class T>
void put_after_start(Records& run) {
  Step moved = step_of<T>(run);
  std::erase_if(run, [&](const Step& step) { return step.seq == moved.seq; });
  const auto at = std::find_if(run.begin(), run.end(), [](const Step& step) {
    return std::holds_alternative<schema::ProcessStarted>(step.body);
  });
  run.insert(at + 1, moved);
  renumber(run);
}

// What `--isolation none` records: the class, no backend, no boundary for any requirement.
void make_unconfined(Records& run) {
  body_of<schema::RunOpened>(run).isolation = schema::IsolationClass::kNone;
  schema::PlanResolved& plan = body_of<schema::PlanResolved>(run);
  plan.requested = schema::IsolationClass::kNone;
  plan.backend.reset();
  for (schema::RequirementOutcome& outcome : plan.outcomes) {
    outcome.kind = schema::OutcomeKind::kNoBoundary;
    outcome.reason.reset();
  }
}

std::vector<Row> plan_rows() {
  return {
      {"a required requirement is unmet", Code::kStartedDespiteUnmetRequirement,
       [](Records& run) {
         first_outcome(run).kind = schema::OutcomeKind::kUnmet;
         first_outcome(run).reason = schema::RefusalReason::kDecisionTooLate;
       }},
      {"a required requirement has no outcome", Code::kStartedDespiteUnmetRequirement,
       [](Records& run) {
         auto& outcomes = body_of<schema::PlanResolved>(run).outcomes;
         outcomes.erase(outcomes.begin());
       }},
      {"no boundary though a class was asked for", Code::kStartedDespiteUnmetRequirement,
       [](Records& run) { first_outcome(run).kind = schema::OutcomeKind::kNoBoundary; }},
      {"the plan softens the posture of policy", Code::kOutcomeContradictsPolicy,
       [](Records& run) { first_outcome(run).posture = schema::RequirementPosture::kOptional; }},
      {"a denial by policy where refusals are let through", Code::kDeniedWhileObserving,
       [](Records& run) {
         observe_syscalls(run);
         set_events(run, {denied_ptrace()});
       }},
      {"a required requirement is degraded", Code::kOutcomeContradictsPolicy,
       [](Records& run) {
         first_outcome(run).kind = schema::OutcomeKind::kDegraded;
         first_outcome(run).achieved = "none";
       }},
      {"prevention was asked for and observation planned", Code::kOutcomeContradictsPolicy,
       [](Records& run) { first_outcome(run).kind = schema::OutcomeKind::kObserved; }},
      {"the plan was refused", Code::kStartedDespiteRefusal,
       [](Records& run) {
         Step step;
         step.body = schema::PlanRefused{};
         run.insert(run.begin() + 4, step);
         renumber(run);
       }},
      {"a step failed", Code::kStartedAfterFailedStep,
       [](Records& run) { body_of<schema::ControlPrepared>(run).failed_step = "landlock"; }},
      {"no boundary.proved", Code::kSetupRecordMissing,
       [](Records& run) { remove_kind<schema::BoundaryProved>(run); }},
      {"a second plan", Code::kRecordRepeated,
       [](Records& run) {
         run.insert(run.begin() + 4, step_of<schema::PlanResolved>(run));
         renumber(run);
       }},
  };
}

std::vector<Row> setup_rows() {
  return {
      {"the controls are recorded after the start", Code::kControlAfterStart,
       [](Records& run) { put_after_start<schema::ControlPrepared>(run); }},
      {"policy is recorded after the start", Code::kSetupAfterStart,
       [](Records& run) { put_after_start<schema::PolicyResolved>(run); }},
      {"canaries are recorded after the start", Code::kSetupAfterStart,
       [](Records& run) { put_after_start<schema::BoundaryProved>(run); }},
      {"a part is missing", Code::kPartMissing,
       [](Records& run) { body_of<schema::ControlPrepared>(run).parts = 2; }},
      {"the first part is missing", Code::kPartMissing,
       [](Records& run) {
         body_of<schema::BoundaryProved>(run).part = 2;
         body_of<schema::BoundaryProved>(run).parts = 2;
       }},
      {"a policy canary succeeded inside", Code::kCanarySucceededInside,
       [](Records& run) {
         body_of<schema::BoundaryProved>(run).canaries.at(0).inside = {
             schema::AttemptOutcome::kSucceeded, 0};
       }},
      {"a self-protection canary succeeded inside", Code::kCanarySucceededInside,
       [](Records& run) {
         schema::Canary canary;
         canary.id = "ledger.open";
         canary.purpose = schema::Purpose::kSelfProtection;
         canary.inside.outcome = schema::AttemptOutcome::kSucceeded;
         body_of<schema::BoundaryProved>(run).canaries.push_back(canary);
       }},
      {"the started image was not prepared", Code::kStartedDigestNotPrepared,
       [](Records& run) { body_of<schema::ProcessStarted>(run).exe_digest = digest_of(0x31); }},
      {"no image was prepared", Code::kStartedDigestNotPrepared,
       [](Records& run) { body_of<schema::ControlPrepared>(run).images.clear(); }},
  };
}

std::vector<Row> event_rows() {
  const auto with_prctl = [](Records& run, const std::function<void(schema::Event&)>& change) {
    schema::Event event = allowed_prctl();
    change(event);
    set_events(run, {event});
  };
  return {
      {"allowed by a deny rule", Code::kAllowedByDenyRule,
       [=](Records& run) {
         with_prctl(run, [](auto& event) { event.rule = "syscalls.deny[0]"; });
       }},
      {"allowed by the default of the list", Code::kAllowedByDenyRule,
       [=](Records& run) { with_prctl(run, [](auto& event) { event.rule = "syscalls.allow"; }); }},
      {"allowed although a deny rule covers it too", Code::kAllowedByDenyRule,
       [=](Records& run) {
         body_of<schema::PolicyResolved>(run).requirements.at(4).rules.at(1).selector.value =
             schema::PathBytes("ptrace");
         with_prctl(run, [](auto& event) { event.object.name = "ptrace"; });
       }},
      {"allowed by a rule policy does not have", Code::kAllowedByUnknownRule,
       [=](Records& run) {
         with_prctl(run, [](auto& event) { event.rule = "syscalls.allow[7]"; });
       }},
      {"allowed by a rule on another domain", Code::kAllowedByUnknownRule,
       [=](Records& run) {
         with_prctl(run, [](auto& event) { event.rule = "filesystem.read.allow[0]"; });
       }},
      {"allowed by a rule that does not cover it", Code::kAllowedOutsideRule,
       [=](Records& run) { with_prctl(run, [](auto& event) { event.object.name = "bpf"; }); }},
      {"a gap in the numbers", Code::kEventNumbersNotContiguous,
       [](Records& run) { body_of<schema::DecisionBatch>(run).events.at(2).number = 5; }},
      {"numbers begin at 2", Code::kEventNumbersNotContiguous,
       [](Records& run) {
         std::int64_t number = 2;
         for (schema::Event& event : body_of<schema::DecisionBatch>(run).events) {
           event.number = number++;
         }
       }},
      {"run.closed counts an event less", Code::kEventTotalsDiffer,
       [](Records& run) { body_of<schema::RunClosed>(run).channel.events -= 1; }},
      {"run.closed counts an action more", Code::kEventTotalsDiffer,
       [](Records& run) { body_of<schema::RunClosed>(run).channel.actions += 1; }},
      {"run.closed hides a loss", Code::kEventTotalsDiffer,
       [](Records& run) { body_of<schema::DecisionBatch>(run).dropped = 1; }},
      {"run.closed hides a nested filter", Code::kEventTotalsDiffer,
       [](Records& run) { body_of<schema::DecisionBatch>(run).events.at(0).nested_filter = true; }},
      {"decisions before the start", Code::kActivityBeforeStart,
       [](Records& run) {
         std::swap(step_of<schema::DecisionBatch>(run).body,
                   step_of<schema::ProcessStarted>(run).body);
       }},
  };
}

std::vector<Row> closing_rows() {
  return {
      {"run.closed denies the start", Code::kClosingDiffers,
       [](Records& run) { body_of<schema::RunClosed>(run).program_started = false; }},
      {"finished without an exit", Code::kClosingDiffers,
       [](Records& run) { remove_kind<schema::ProcessExited>(run); }},
      {"a record of another boot", Code::kRecordOfAnotherBoot,
       [](Records& run) { step_of<schema::ProcessExited>(run).boot = kOtherBoot; }},
      {"a record by another signer", Code::kSignerNotAccepted,
       [](Records& run) { step_of<schema::ProcessExited>(run).signer_ok = false; }},
  };
}

TEST(ContradictionsTest, EachRowIsFoundAndNothingElse) {
  for (const auto& rows : {plan_rows(), setup_rows(), event_rows(), closing_rows()}) {
    for (const Row& row : rows) {
      SCOPED_TRACE(row.why);
      Records run = sample_run();
      row.change(run);
      EXPECT_EQ(codes(facts_of(run)), std::vector<Code>{row.expected});
    }
  }
}

struct Harmless {
  const char* why;
  std::function<void(Records&)> change;
};

TEST(ContradictionsTest, WhatLooksAlikeIsNoContradiction) {
  const std::vector<Harmless> rows = {
      {"an optional requirement is unmet", [](Records&) {}},
      {"an unread first image is not compared",
       [](Records& run) {
         auto& started = body_of<schema::ProcessStarted>(run);
         started.exe_read = schema::ExeRead::kNotRead;
         started.exe_not_read_reason = "no ptrace";
         started.exe_digest = digest_of(0x77);
       }},
      {"prevention is only observed when the operator asks for observation",
       [](Records& run) {
         body_of<schema::RunOpened>(run).enforcement_mode = "observe";
         first_outcome(run).kind = schema::OutcomeKind::kObserved;
       }},
      {"self-protection denies in a domain that is observed",
       [](Records& run) {
         observe_syscalls(run);
         schema::Event event = denied_ptrace();
         event.rule = "self_protection.ptrace";
         set_events(run, {event});
       }},
      {"an allowed decision in observe mode cites no covering rule",
       [](Records& run) {
         body_of<schema::RunOpened>(run).enforcement_mode = "observe";
         schema::Event event = allowed_prctl();
         event.object.name = "bpf";
         set_events(run, {event});
       }},
      {"an allowed decision in a degraded domain cites no covering rule",
       [](Records& run) {
         schema::Event event = allowed_prctl();
         event.domain = Domain::kNetworkEgress;
         set_events(run, {event});
       }},
      {"an allowed answer for compatibility cites no policy rule",
       [](Records& run) {
         schema::Event event = compat_clone3();
         event.outcome = schema::DecisionOutcome::kAllowed;
         set_events(run, {event});
       }},
      {"a denial cites a deny rule", [](Records& run) { set_events(run, {denied_ptrace()}); }},
      {"a list in two parts",
       [](Records& run) {
         body_of<schema::ControlPrepared>(run).parts = 2;
         Step second = step_of<schema::ControlPrepared>(run);
         std::get<schema::ControlPrepared>(second.body).part = 2;
         std::get<schema::ControlPrepared>(second.body).controls.clear();
         run.insert(run.begin() + 5, second);
         renumber(run);
       }},
      {"rules go on in a further control",
       [](Records& run) {
         auto& controls = body_of<schema::ControlPrepared>(run).controls;
         controls.push_back(controls.at(2));
         controls.back().rules = {"syscalls.deny[7]", "syscalls.deny[8]"};
         controls.back().seccomp.reset();
       }},
      {"events lost after the last batch stand in run.closed alone",
       [](Records& run) { body_of<schema::RunClosed>(run).channel.dropped = 9; }},
  };
  for (const Harmless& row : rows) {
    SCOPED_TRACE(row.why);
    Records run = sample_run();
    row.change(run);
    EXPECT_EQ(codes(facts_of(run)), std::vector<Code>{});
  }
}

TEST(ContradictionsTest, APlanWithoutABackendNeedsNoControls) {
  Records run = sample_run();
  remove_kind<schema::ControlPrepared>(run);
  EXPECT_EQ(codes(facts_of(run)), std::vector<Code>{Code::kSetupRecordMissing});
  remove_kind<schema::BoundaryProved>(run);
  make_unconfined(run);
  set_events(run, {});
  EXPECT_EQ(codes(facts_of(run)), std::vector<Code>{});
}

TEST(ContradictionsTest, OneEntryACodeWithACount) {
  Records run = sample_run();
  for (Step& step : run) {
    step.signer_ok = false;
  }
  const auto found = claims_of(run).contradictions;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].code, Code::kSignerNotAccepted);
  EXPECT_EQ(found[0].count, static_cast<std::int64_t>(run.size()));
  EXPECT_EQ(found[0].seq, 0);
}

TEST(ContradictionsTest, DetailsHoldNoRawBytesOfARecord) {
  Records run = sample_run();
  schema::Event event = allowed_prctl();
  event.rule = "x\n\x1b[31m" + std::string(4000, 'y');
  set_events(run, {event});
  const auto found = claims_of(run).contradictions;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].detail.find('\n'), std::string::npos);
  EXPECT_EQ(found[0].detail.find('\x1b'), std::string::npos);
  EXPECT_LT(found[0].detail.size(), 300U);
}

TEST(ContradictionsTest, AnotherRecomputedPlanDigestContradicts) {
  RunFacts facts = facts_of(sample_run());
  facts.set_recomputed_plan_digest(digest_of(0x20));
  EXPECT_EQ(codes(facts), std::vector<Code>{});
  facts.set_recomputed_plan_digest(digest_of(0x21));
  EXPECT_EQ(codes(facts), std::vector<Code>{Code::kPlanDigestDiffers});
}

TEST(ContradictionsTest, IsolationNoneIsRecordedInTheRunAndInThePlan) {
  Records run = sample_run();
  first_outcome(run).kind = schema::OutcomeKind::kNoBoundary;
  body_of<schema::PlanResolved>(run).requested = schema::IsolationClass::kNone;
  EXPECT_EQ(codes(facts_of(run)), (std::vector<Code>{Code::kStartedDespiteUnmetRequirement,
                                                     Code::kIsolationClassDiffers}));
}

TEST(ContradictionsTest, AnObjectThatCannotBeComparedIsAnOpenQuestion) {
  Records run = sample_run();
  auto& probed = body_of<schema::CapabilityProbed>(run).domains;
  probed.push_back(probed.at(2));
  probed.back().domain = Domain::kNetworkEgress;
  schema::RequirementOutcome& network = body_of<schema::PlanResolved>(run).outcomes.at(4);
  ASSERT_EQ(network.domain, Domain::kNetworkEgress);
  network.kind = schema::OutcomeKind::kEnforced;
  network.reason.reset();
  auto& controls = body_of<schema::ControlPrepared>(run).controls;
  controls.push_back(controls.at(0));
  controls.back().id = "proxy";
  controls.back().domain = Domain::kNetworkEgress;
  schema::Event event = allowed_prctl();
  event.domain = Domain::kNetworkEgress;
  event.operation = "connect";
  event.object = address_object("192.0.2.7", 443, "tcp");
  event.rule = "network.allowlist[0]";
  set_events(run, {event});
  // A range that cannot be read.
  body_of<schema::PolicyResolved>(run).requirements.at(2).rules.at(0).selector.value =
      schema::PathBytes("192.0.2.0/99:443");
  const RunClaims claims = claims_of(run);
  EXPECT_TRUE(claims.contradictions.empty());
  EXPECT_EQ(claims.open_questions,
            std::vector<OpenQuestion>{OpenQuestion::kObjectCoverageUndecided});
}

}  // namespace
}  // namespace aasm::claims::test
