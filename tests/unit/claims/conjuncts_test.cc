#include "conjuncts.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "oracle.h"
#include "sample_run.h"

// Rule 2 of claims/1, conjunct by conjunct: a valid run with one denial, and for each conjunct one
// run that differs from it in that conjunct alone.
namespace aasm::claims::test {
namespace {

using schema::ClaimTerm;
using schema::Domain;

Records one_denial() {
  Records run = sample_run();
  set_events(run, {denied_ptrace()});
  return run;
}

schema::Event& the_event(Records& run) {
  return body_of<schema::DecisionBatch>(run).events.at(0);
}

schema::Control& seccomp(Records& run) {
  return body_of<schema::ControlPrepared>(run).controls.at(2);
}

// Moves the first record of kind T behind the first record of kind After.
template <class T, class After>
void move_behind(Records& run) {
  const Step moved = step_of<T>(run);
  std::erase_if(run, [&](const Step& step) { return step.seq == moved.seq; });
  const auto at = std::find_if(run.begin(), run.end(), [](const Step& step) {
    return std::holds_alternative<After>(step.body);
  });
  run.insert(std::next(at), moved);
  renumber(run);
}

struct Row {
  const char* why;
  Conjunct failed;
  std::function<void(Records&)> break_it;
};

std::vector<Row> event_rows() {
  return {
      {"the refusing component allowed it", Conjunct::kOutcomeDenied,
       [](Records& run) { the_event(run).outcome = schema::DecisionOutcome::kAllowed; }},
      {"emulated is not denied", Conjunct::kOutcomeDenied,
       [](Records& run) { the_event(run).outcome = schema::DecisionOutcome::kEmulated; }},
      {"file modes refused it", Conjunct::kCausePolicy,
       [](Records& run) { the_event(run).cause = schema::DecisionCause::kHostPermission; }},
      {"a fault refused it", Conjunct::kCausePolicy,
       [](Records& run) { the_event(run).cause = schema::DecisionCause::kFault; }},
      {"ENOSYS for compatibility", Conjunct::kCausePolicy,
       [](Records& run) { the_event(run).cause = schema::DecisionCause::kCompat; }},
      {"two causes are possible", Conjunct::kCausePolicy,
       [](Records& run) { the_event(run).cause = schema::DecisionCause::kAmbiguous; }},
      {"the caller died before the answer", Conjunct::kReplyAccepted,
       [](Records& run) { the_event(run).reply = schema::ReplyState::kCallerGone; }},
      {"killed though policy asks for errno", Conjunct::kReplyAccepted,
       [](Records& run) { the_event(run).reply = schema::ReplyState::kKilledWhileBlocked; }},
      {"decided after the effect", Conjunct::kTimingPre,
       [](Records& run) { the_event(run).timing = schema::Timing::kPost; }},
      {"decided during the effect", Conjunct::kTimingPre,
       [](Records& run) { the_event(run).timing = schema::Timing::kInLine; }},
      {"the action did not wait", Conjunct::kSynchronous,
       [](Records& run) { the_event(run).synchrony = schema::Synchrony::kBestEffort; }},
      {"a self-protection rule", Conjunct::kNotSelfProtection,
       [](Records& run) {
         // Even where policy and control name it.
         the_event(run).rule = "self_protection.kill";
         body_of<schema::PolicyResolved>(run).requirements.at(4).default_rule =
             "self_protection.kill";
         seccomp(run).rules.emplace_back("self_protection.kill");
       }},
      {"the rule names a requirement on another domain", Conjunct::kRuleOfRequirement,
       [](Records& run) {
         the_event(run).rule = "filesystem.read.allow[0]";
         seccomp(run).rules.emplace_back("filesystem.read.allow[0]");
       }},
      {"policy has no such rule", Conjunct::kRuleOfRequirement,
       [](Records& run) {
         the_event(run).rule = "syscalls.deny[9]";
         seccomp(run).rules.emplace_back("syscalls.deny[9]");
       }},
      {"the event is about a domain policy does not state", Conjunct::kRuleOfRequirement,
       [](Records& run) { the_event(run).domain = Domain::kIpc; }},
  };
}

std::vector<Row> record_rows() {
  return {
      {"only observed", Conjunct::kDecisionRecord,
       [](Records& run) {
         const schema::DecisionBatch batch = body_of<schema::DecisionBatch>(run);
         schema::ObservationBatch observed;
         static_cast<schema::EventBatch&>(observed) = batch;
         step_of<schema::DecisionBatch>(run).body = observed;
       }},
      {"decided before the start", Conjunct::kAfterStart,
       [](Records& run) { move_behind<schema::ProcessStarted, schema::DecisionBatch>(run); }},
      {"no start is recorded", Conjunct::kAfterStart,
       [](Records& run) { remove_kind<schema::ProcessStarted>(run); }},
      {"the decision is of another boot", Conjunct::kSameBoot,
       [](Records& run) { step_of<schema::DecisionBatch>(run).boot = kOtherBoot; }},
      {"the start is of another boot", Conjunct::kSameBoot,
       [](Records& run) { step_of<schema::ProcessStarted>(run).boot = kOtherBoot; }},
      {"the policy is of another boot", Conjunct::kSameBoot,
       [](Records& run) { step_of<schema::PolicyResolved>(run).boot = kOtherBoot; }},
      {"the decision has another signer", Conjunct::kRightSigner,
       [](Records& run) { step_of<schema::DecisionBatch>(run).signer_ok = false; }},
      {"the start has another signer", Conjunct::kRightSigner,
       [](Records& run) { step_of<schema::ProcessStarted>(run).signer_ok = false; }},
      {"the policy has another signer", Conjunct::kRightSigner,
       [](Records& run) { step_of<schema::PolicyResolved>(run).signer_ok = false; }},
      {"run.opened has another signer", Conjunct::kRightSigner,
       [](Records& run) { step_of<schema::RunOpened>(run).signer_ok = false; }},
      {"no policy is recorded", Conjunct::kRuleOfRequirement,
       [](Records& run) { remove_kind<schema::PolicyResolved>(run); }},
      {"policy is recorded after the start", Conjunct::kRuleOfRequirement,
       [](Records& run) { move_behind<schema::PolicyResolved, schema::ProcessStarted>(run); }},
  };
}

std::vector<Row> control_rows() {
  return {
      {"no control lists the rule", Conjunct::kRuleInControl,
       [](Records& run) { seccomp(run).rules = {"syscalls.allow"}; }},
      {"no control is recorded", Conjunct::kRuleInControl,
       [](Records& run) { remove_kind<schema::ControlPrepared>(run); }},
      {"the control is self-protection", Conjunct::kControlForPolicy,
       [](Records& run) { seccomp(run).purpose = schema::Purpose::kSelfProtection; }},
      {"the control was not installed", Conjunct::kControlInstalled,
       [](Records& run) { seccomp(run).installed = false; }},
      {"another component reported it", Conjunct::kEnforcingComponent,
       [](Records& run) { the_event(run).mechanism = "log_scraper"; }},
      {"the component has no name", Conjunct::kEnforcingComponent,
       [](Records& run) {
         the_event(run).mechanism = "";
         seccomp(run).mechanism = "";
       }},
      {"the control is recorded after the start", Conjunct::kControlBeforeStart,
       [](Records& run) { move_behind<schema::ControlPrepared, schema::ProcessStarted>(run); }},
      {"the control is of another boot", Conjunct::kControlTrustworthy,
       [](Records& run) { step_of<schema::ControlPrepared>(run).boot = kOtherBoot; }},
      {"the control has another signer", Conjunct::kControlTrustworthy,
       [](Records& run) { step_of<schema::ControlPrepared>(run).signer_ok = false; }},
      {"one control is installed, another lists the rule", Conjunct::kControlInstalled,
       [](Records& run) {
         schema::Control idle = seccomp(run);
         idle.installed = false;
         seccomp(run).rules = {"syscalls.allow"};
         body_of<schema::ControlPrepared>(run).controls.push_back(idle);
       }},
  };
}

// The conjuncts about the event that do not hold, each asked by itself.
std::vector<Conjunct> failing_event_conjuncts(const RuleTwoInput& in) {
  const std::vector<std::pair<Conjunct, bool>> answers = {
      {Conjunct::kDecisionRecord, is_decision_record(in)},
      {Conjunct::kAfterStart, is_after_start(in)},
      {Conjunct::kSameBoot, is_same_boot(in)},
      {Conjunct::kRightSigner, is_right_signer(in)},
      {Conjunct::kOutcomeDenied, is_outcome_denied(in)},
      {Conjunct::kCausePolicy, is_cause_policy(in)},
      {Conjunct::kReplyAccepted, is_reply_accepted(in)},
      {Conjunct::kTimingPre, is_timing_pre(in)},
      {Conjunct::kSynchronous, is_synchronous(in)},
      {Conjunct::kNotSelfProtection, is_not_self_protection(in)},
      {Conjunct::kRuleOfRequirement, is_rule_of_requirement(in)},
  };
  std::vector<Conjunct> failing;
  for (const auto& answer : answers) {
    if (!answer.second) {
      failing.push_back(answer.first);
    }
  }
  return failing;
}

bool some_control_satisfies_all(const RuleTwoInput& in) {
  return std::any_of(in.facts.controls().begin(), in.facts.controls().end(),
                     [&](const auto& control) {
                       return lists_rule(in, control) && is_for_policy(in, control) &&
                              is_installed(in, control) && is_enforcing_component(in, control) &&
                              stands_before_start(in, control) && is_trustworthy(in, control);
                     });
}

const schema::EventBatch& the_batch(const Step& step) {
  if (const auto* decided = std::get_if<schema::DecisionBatch>(&step.body)) {
    return *decided;
  }
  return std::get<schema::ObservationBatch>(step.body);
}

const Step& activity_step(const Records& run) {
  return *std::find_if(run.begin(), run.end(), [](const Step& step) {
    return std::holds_alternative<schema::DecisionBatch>(step.body) ||
           std::holds_alternative<schema::ObservationBatch>(step.body);
  });
}

void expect_fails_only(const Row& row) {
  SCOPED_TRACE(row.why);
  Records run = one_denial();
  row.break_it(run);
  const RunFacts facts = facts_of(run);
  const Step& step = activity_step(run);
  const RecordMark mark{step.seq, step.boot == kBoot, step.signer_ok};
  const RuleTwoInput in{facts, mark, the_batch(step).events.at(0),
                        std::holds_alternative<schema::DecisionBatch>(step.body)};
  EXPECT_EQ(first_failed_conjunct(in), row.failed);
  const std::vector<Conjunct> failing = failing_event_conjuncts(in);
  if (row.failed < Conjunct::kRuleInControl) {
    EXPECT_EQ(failing, std::vector<Conjunct>{row.failed});
    EXPECT_TRUE(some_control_satisfies_all(in)) << "the controls should be as in the valid run";
  } else {
    EXPECT_TRUE(failing.empty());
    EXPECT_FALSE(some_control_satisfies_all(in));
  }
  const RunClaims claims = derive(facts);
  for (const DomainClaim& claim : claims.domains) {
    EXPECT_NE(claim.claim, ClaimTerm::kDeniedBeforeExecution);
    EXPECT_EQ(claim.denied_actions, 0);
    EXPECT_TRUE(claim.denied_by_rule.empty());
  }
  for (const auto& [domain, name] : schema::EnumNames<Domain>::kTokens) {
    EXPECT_EQ(claims.of(domain).claim, oracle(run, domain).term) << name;
  }
}

TEST(ConjunctsTest, TheValidRunIsAPreventionClaim) {
  Records run = one_denial();
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.of(Domain::kSyscall).claim, ClaimTerm::kDeniedBeforeExecution);
  EXPECT_EQ(claims.of(Domain::kSyscall).denied_actions, 1);
  EXPECT_EQ(oracle(run, Domain::kSyscall).term, ClaimTerm::kDeniedBeforeExecution);
  EXPECT_TRUE(claims.contradictions.empty());
}

TEST(ConjunctsTest, AnEventThatFailsOneConjunctOnlyIsNoPreventionClaim) {
  for (const Row& row : event_rows()) {
    expect_fails_only(row);
  }
}

TEST(ConjunctsTest, RecordsThatFailOneConjunctOnlyGiveNoPreventionClaim) {
  for (const Row& row : record_rows()) {
    // The two rows about policy also take the rules away that controls are compared with.
    expect_fails_only(row);
  }
}

TEST(ConjunctsTest, AControlThatFailsOneConjunctOnlyGivesNoPreventionClaim) {
  for (const Row& row : control_rows()) {
    expect_fails_only(row);
  }
}

TEST(ConjunctsTest, EveryConjunctHasARow) {
  std::vector<Row> rows = event_rows();
  for (const auto& more : {record_rows(), control_rows()}) {
    rows.insert(rows.end(), more.begin(), more.end());
  }
  for (const auto& [conjunct, name] : schema::EnumNames<Conjunct>::kTokens) {
    const Conjunct wanted = conjunct;
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
      return row.failed == wanted;
    })) << name;
  }
}

TEST(ConjunctsTest, AKillWhileBlockedCountsWhenPolicyAsksForKills) {
  Records run = one_denial();
  the_event(run).reply = schema::ReplyState::kKilledWhileBlocked;
  body_of<schema::PolicyResolved>(run).on_denial = "kill";
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).claim, ClaimTerm::kDeniedBeforeExecution);
}

TEST(ConjunctsTest, ADenialByTheDefaultRuleOfTheListCounts) {
  Records run = one_denial();
  the_event(run).rule = "syscalls.allow";
  const RunClaims claims = claims_of(run);
  const DomainClaim& claim = claims.of(Domain::kSyscall);
  EXPECT_EQ(claim.claim, ClaimTerm::kDeniedBeforeExecution);
  ASSERT_EQ(claim.denied_by_rule.size(), 1U);
  EXPECT_EQ(claim.denied_by_rule[0].rule, "syscalls.allow");
}

TEST(ConjunctsTest, APolicyDenialThatDoesNotCountIsNamedWithTheConjunct) {
  Records run = one_denial();
  the_event(run).reply = schema::ReplyState::kCallerGone;
  the_event(run).count = 4;
  const RunClaims claims = claims_of(run);
  const auto& uncounted = claims.of(Domain::kSyscall).uncounted_denials;
  ASSERT_EQ(uncounted.size(), 1U);
  EXPECT_EQ(uncounted[0].failed, Conjunct::kReplyAccepted);
  EXPECT_EQ(uncounted[0].actions, 4);
}

}  // namespace
}  // namespace aasm::claims::test
