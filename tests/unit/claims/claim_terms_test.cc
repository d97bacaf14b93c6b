#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "oracle.h"
#include "sample_run.h"

// Rules 0, 1 and 3 to 6 of claims/1, the terms before the start, and what no input can change.
namespace aasm::claims::test {
namespace {

using schema::ClaimTerm;
using schema::Domain;

std::optional<ClaimTerm> term(const Records& run, Domain domain) {
  const std::optional<ClaimTerm> found = claims_of(run).of(domain).claim;
  EXPECT_EQ(found, oracle(run, domain).term) << "the oracle disagrees";
  return found;
}

schema::RequirementOutcome& outcome_of(Records& run, Domain domain) {
  for (schema::RequirementOutcome& one : body_of<schema::PlanResolved>(run).outcomes) {
    if (one.domain == domain) {
      return one;
    }
  }
  std::abort();
}

TEST(ClaimTermsTest, TheSampleRunGivesOneTermADomain) {
  const Records run = sample_run();
  EXPECT_EQ(term(run, Domain::kSyscall), ClaimTerm::kDeniedBeforeExecution);
  EXPECT_EQ(term(run, Domain::kFilesystemRead), ClaimTerm::kUnmeasured);
  EXPECT_EQ(term(run, Domain::kNetworkEgress), ClaimTerm::kDegraded);
  EXPECT_EQ(term(run, Domain::kNameResolution), ClaimTerm::kUnmeasured);
  EXPECT_EQ(term(run, Domain::kResource), ClaimTerm::kUnsupported);
  EXPECT_EQ(term(run, Domain::kProcessCreation), std::nullopt);
  EXPECT_EQ(claims_of(run).of(Domain::kProcessCreation).claim_token(), "not_stated");
  EXPECT_TRUE(claims_of(run).contradictions.empty());
  EXPECT_TRUE(claims_of(run).open_questions.empty());
}

TEST(ClaimTermsTest, TheCountOfDeniedActionsStandsBesideTheTerm) {
  Records run = sample_run();
  schema::Event twice = denied_ptrace();
  twice.count = 2;
  set_events(run, {twice, denied_ptrace(), compat_clone3()});
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.of(Domain::kSyscall).claim_text(), "denied_before_execution (3 actions)");
  set_events(run, {denied_ptrace()});
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).claim_text(), "denied_before_execution (1 action)");
}

TEST(ClaimTermsTest, NothingBeforeTheStartIsMoreThanPlanned) {
  const Records run = sample_preview();
  EXPECT_EQ(term(run, Domain::kSyscall), ClaimTerm::kPlanned);
  EXPECT_EQ(term(run, Domain::kNetworkEgress), ClaimTerm::kDegraded);
  EXPECT_EQ(term(run, Domain::kNameResolution), ClaimTerm::kUnmeasured);
  EXPECT_EQ(term(run, Domain::kResource), ClaimTerm::kUnsupported);
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).basis, schema::Basis::kSetupOnly);
}

TEST(ClaimTermsTest, AnInstalledBoundaryWithoutAStartIsStillPlanned) {
  Records run = sample_run();
  remove_kind<schema::ProcessStarted>(run);
  remove_kind<schema::DecisionBatch>(run);
  EXPECT_EQ(term(run, Domain::kFilesystemRead), ClaimTerm::kPlanned);
  EXPECT_EQ(term(run, Domain::kSyscall), ClaimTerm::kPlanned);
}

TEST(ClaimTermsTest, AnObserveOutcomeIsPlannedBeforeTheStart) {
  Records run = sample_preview();
  outcome_of(run, Domain::kFilesystemRead).kind = schema::OutcomeKind::kObserved;
  EXPECT_EQ(term(run, Domain::kFilesystemRead), ClaimTerm::kPlanned);
}

TEST(ClaimTermsTest, RefusedRequirementsAreUnsupportedOrUnmeasured) {
  Records run = sample_preview();
  schema::PlanRefused refused;
  schema::Refusal refusal;
  refusal.domain = Domain::kSyscall;
  refusal.reason = schema::RefusalReason::kDomainUnsupported;
  refused.refusals.push_back(refusal);
  refusal.domain = Domain::kCredential;
  refusal.reason = schema::RefusalReason::kDecisionTooLate;
  refused.refusals.push_back(refusal);
  step_of<schema::PlanResolved>(run).body = refused;
  EXPECT_EQ(term(run, Domain::kSyscall), ClaimTerm::kUnsupported);
  EXPECT_EQ(term(run, Domain::kCredential), ClaimTerm::kUnmeasured);
  EXPECT_EQ(term(run, Domain::kFilesystemRead), ClaimTerm::kUnmeasured);
  EXPECT_EQ(claims_of(run).posture, ReportedPosture::kRefused);
}

TEST(ClaimTermsTest, AnExperimentalBackendClaimsNothingElse) {
  Records run = sample_run();
  body_of<schema::PlanResolved>(run).experimental = true;
  for (const Domain domain : {Domain::kSyscall, Domain::kNetworkEgress, Domain::kResource}) {
    EXPECT_EQ(term(run, domain), ClaimTerm::kExperimental);
  }
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).denied_actions, 1) << "counts stay visible";
}

TEST(ClaimTermsTest, ADegradedDomainStaysDegradedWhateverWasDenied) {
  Records run = sample_run();
  schema::RequirementOutcome& outcome = outcome_of(run, Domain::kSyscall);
  outcome.kind = schema::OutcomeKind::kDegraded;
  outcome.planned = "prevent_before_effect";
  outcome.achieved = "observe";
  EXPECT_EQ(term(run, Domain::kSyscall), ClaimTerm::kDegraded);
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.of(Domain::kSyscall).planned, "prevent_before_effect");
  EXPECT_EQ(claims.of(Domain::kSyscall).achieved, "observe");
}

struct EvaluationRow {
  const char* why;
  schema::DecisionCause cause;
  schema::DecisionOutcome outcome;
  const char* rule;
  std::optional<ClaimTerm> expected;
};

TEST(ClaimTermsTest, EvaluatedNeedsADecisionOfPolicyHostOrAmbiguousCause) {
  using schema::DecisionCause;
  using schema::DecisionOutcome;
  const std::vector<EvaluationRow> rows = {
      {"an allowed call", DecisionCause::kPolicy, DecisionOutcome::kAllowed, "syscalls.allow[0]",
       ClaimTerm::kEvaluated},
      {"file modes refused it", DecisionCause::kHostPermission, DecisionOutcome::kDenied,
       "syscalls.allow", ClaimTerm::kEvaluated},
      {"either cause", DecisionCause::kAmbiguous, DecisionOutcome::kDenied, "syscalls.allow",
       ClaimTerm::kEvaluated},
      {"emulated by policy", DecisionCause::kPolicy, DecisionOutcome::kEmulated, "syscalls.allow",
       ClaimTerm::kEvaluated},
      {"a fault is no evaluation", DecisionCause::kFault, DecisionOutcome::kDenied,
       "syscalls.allow", ClaimTerm::kUnmeasured},
      {"compatibility is no evaluation", DecisionCause::kCompat, DecisionOutcome::kDenied,
       "syscalls.allow", ClaimTerm::kUnmeasured},
      {"self-protection never counts", DecisionCause::kPolicy, DecisionOutcome::kDenied,
       "self_protection.kill", ClaimTerm::kUnmeasured},
  };
  for (const EvaluationRow& row : rows) {
    SCOPED_TRACE(row.why);
    Records run = sample_run();
    schema::Event event = allowed_prctl();
    event.cause = row.cause;
    event.outcome = row.outcome;
    event.rule = row.rule;
    set_events(run, {event});
    EXPECT_EQ(term(run, Domain::kSyscall), row.expected);
  }
}

TEST(ClaimTermsTest, ARuleOnlySelfProtectionInstalledIsNoEvaluation) {
  Records run = sample_run();
  schema::Event event = denied_ptrace();
  event.rule = "guard.signals";
  set_events(run, {event});
  EXPECT_EQ(term(run, Domain::kSyscall), ClaimTerm::kEvaluated) << "the pair: nobody lists it";
  body_of<schema::ControlPrepared>(run).controls.at(5).rules = {"guard.signals"};
  EXPECT_EQ(term(run, Domain::kSyscall), ClaimTerm::kUnmeasured);
}

struct LimitRow {
  const char* why;
  schema::ExitCause cause;
  const char* stated;
  std::optional<ClaimTerm> expected;
};

TEST(ClaimTermsTest, DetectedNeedsAStatedLimitThatEndedTheProgram) {
  using schema::ExitCause;
  const std::vector<LimitRow> rows = {
      {"wall clock stated", ExitCause::kWallClock, "wall_clock_seconds", ClaimTerm::kDetected},
      {"memory stated", ExitCause::kMemoryLimit, "memory_bytes", ClaimTerm::kDetected},
      {"another limit stated", ExitCause::kMemoryLimit, "wall_clock_seconds",
       ClaimTerm::kUnsupported},
      {"the program ended by itself", ExitCause::kExited, "wall_clock_seconds",
       ClaimTerm::kUnsupported},
      {"a signal ended it", ExitCause::kSignalled, "wall_clock_seconds", ClaimTerm::kUnsupported},
  };
  for (const LimitRow& row : rows) {
    SCOPED_TRACE(row.why);
    Records run = sample_run();
    schema::PolicyRule& rule = body_of<schema::PolicyResolved>(run).requirements.at(6).rules.at(0);
    rule.id = std::string("org:resources.") + row.stated;
    rule.operation = row.stated;
    body_of<schema::ProcessExited>(run).cause = row.cause;
    EXPECT_EQ(term(run, Domain::kResource), row.expected);
    const bool named = !claims_of(run).of(Domain::kResource).detector.empty();
    EXPECT_EQ(named, row.expected == ClaimTerm::kDetected);
  }
}

TEST(ClaimTermsTest, ObservationsAreObservedAndNothingMore) {
  Records run = sample_run();
  schema::ObservationBatch batch;
  batch.events.push_back(observed_open());
  batch.events[0].number = 4;
  batch.first = 4;
  Step step;
  step.body = batch;
  run.insert(run.end() - 2, step);
  renumber(run);
  body_of<schema::RunClosed>(run).channel.events = 4;
  body_of<schema::RunClosed>(run).channel.actions = 4;
  EXPECT_EQ(term(run, Domain::kFilesystemRead), ClaimTerm::kObserved);
  EXPECT_EQ(claims_of(run).of(Domain::kFilesystemRead).basis,
            schema::Basis::kRuntimeWithoutDecision);
  EXPECT_TRUE(claims_of(run).contradictions.empty());
}

TEST(ClaimTermsTest, AnUnstatedDomainGetsCountsAndNoTerm) {
  Records run = sample_run();
  schema::Event event = denied_ptrace();
  event.domain = Domain::kIpc;
  event.rule = "self_protection.kill";
  set_events(run, {event});
  EXPECT_EQ(term(run, Domain::kIpc), std::nullopt);
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.of(Domain::kIpc).claim_token(), "not_stated");
  ASSERT_EQ(claims.of(Domain::kIpc).decisions.size(), 1U);
  EXPECT_EQ(claims.of(Domain::kIpc).decisions[0].actions, 1);
  EXPECT_EQ(claims.of(Domain::kIpc).closed_by_self_protection,
            std::vector<std::string>{"seccomp_guard: signals to processes outside"});
}

TEST(ClaimTermsTest, IsolationNoneIsUnmeasuredWithoutABoundary) {
  Records run = sample_run();
  remove_kind<schema::ControlPrepared>(run);
  remove_kind<schema::BoundaryProved>(run);
  remove_kind<schema::DecisionBatch>(run);
  body_of<schema::RunOpened>(run).isolation = schema::IsolationClass::kNone;
  schema::PlanResolved& plan = body_of<schema::PlanResolved>(run);
  plan.requested = schema::IsolationClass::kNone;
  plan.backend.reset();
  plan.posture = schema::LaunchPosture::kUnconfined;
  for (schema::RequirementOutcome& one : plan.outcomes) {
    one.kind = schema::OutcomeKind::kNoBoundary;
    one.reason.reset();
  }
  body_of<schema::RunClosed>(run).channel = {};
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.posture, ReportedPosture::kUnconfined);
  EXPECT_TRUE(claims.contradictions.empty());
  for (const DomainClaim& claim : claims.domains) {
    EXPECT_EQ(claim.boundary, schema::BoundaryState::kAbsent);
    EXPECT_EQ(claim.basis, schema::Basis::kNone);
    if (claim.stated) {
      EXPECT_EQ(claim.claim, ClaimTerm::kUnmeasured);
    }
  }
}

TEST(ClaimTermsTest, UnknownRulesDeriveNoClaimAndAskTheCaller) {
  Records run = sample_run();
  body_of<schema::RunOpened>(run).claims_rules = "claims/2";
  const RunClaims claims = claims_of(run);
  EXPECT_FALSE(claims.rules_known);
  EXPECT_EQ(claims.rules, "claims/2");
  EXPECT_EQ(claims.open_questions, std::vector<OpenQuestion>{OpenQuestion::kClaimsRulesUnknown});
  for (const DomainClaim& claim : claims.domains) {
    EXPECT_EQ(claim.claim, std::nullopt);
    EXPECT_EQ(claim.denied_actions, 0);
  }
  EXPECT_EQ(claims.of(Domain::kSyscall).claim_token(), "not_derived");
}

TEST(ClaimTermsTest, ARunWithoutRunOpenedDerivesNothing) {
  Records run = sample_run();
  remove_kind<schema::RunOpened>(run);
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.open_questions, std::vector<OpenQuestion>{OpenQuestion::kRunOpenedMissing});
  EXPECT_EQ(claims.of(Domain::kSyscall).claim, std::nullopt);
}

TEST(ClaimTermsTest, TheExitStatusChangesNoClaim) {
  const Records run = sample_run();
  const RunClaims before = claims_of(run);
  for (const std::int64_t status : {1, 13, 126, 255}) {
    Records other = run;
    body_of<schema::ProcessExited>(other).status = status;
    const RunClaims after = claims_of(other);
    for (const auto& [domain, name] : schema::EnumNames<Domain>::kTokens) {
      EXPECT_EQ(after.of(domain).claim, before.of(domain).claim) << name;
      EXPECT_EQ(after.of(domain).basis, before.of(domain).basis) << name;
    }
  }
}

// What the program prints reaches no record, so there is nothing to feed. The nearest thing, a
// program that a signal or a failing status ended, with no decision recorded, denies nothing.
TEST(ClaimTermsTest, AProgramThatFailsWithoutADecisionRecordPreventsNothing) {
  Records run = sample_run();
  set_events(run, {});
  body_of<schema::ProcessExited>(run).status.reset();
  body_of<schema::ProcessExited>(run).signal = 31;
  body_of<schema::ProcessExited>(run).cause = schema::ExitCause::kKilledByDenial;
  for (const DomainClaim& claim : claims_of(run).domains) {
    EXPECT_NE(claim.claim, ClaimTerm::kDeniedBeforeExecution);
    EXPECT_NE(claim.claim, ClaimTerm::kEvaluated);
  }
}

TEST(ClaimTermsTest, StatesOfARunFollowItsLastRecord) {
  Records run = sample_run();
  EXPECT_EQ(claims_of(run).state, RunState::kFinished);
  remove_kind<schema::RunClosed>(run);
  EXPECT_EQ(claims_of(run).state, RunState::kOpen);
  append(run, schema::RunRecovered{"process.exited", true});
  run.back().boot = kOtherBoot;
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.state, RunState::kInterrupted);
  EXPECT_TRUE(claims.contradictions.empty()) << "run.recovered may be of another boot";
}

TEST(ClaimTermsTest, ARunRecoveredBeforeItsStartMayHaveRun) {
  Records run = sample_preview();
  append(run, schema::RunRecovered{"boundary.proved", true});
  EXPECT_TRUE(claims_of(run).program_may_have_run);
  body_of<schema::RunRecovered>(run).program_may_have_run = false;
  EXPECT_FALSE(claims_of(run).program_may_have_run);
}

TEST(ClaimTermsTest, AFailedPreparationIsReportedAsRefused) {
  Records run = sample_preview();
  schema::RunClosed closed;
  closed.ending = schema::RunEnding::kCanaryFailed;
  closed.detail = "syscall.kcmp";
  append(run, closed);
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.state, RunState::kFailedBeforeStart);
  EXPECT_EQ(claims.posture, ReportedPosture::kRefused);
  EXPECT_EQ(claims.posture_detail, "canary_failed: syscall.kcmp");
}

}  // namespace
}  // namespace aasm::claims::test
