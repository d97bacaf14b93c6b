#include "observing.h"

#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "classify.h"
#include "lowering.h"
#include "policy_builder.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Domain;
using Form = Observing::Form;

schema::PolicyRule syscall_rule(schema::RuleEffect effect, const std::string& name) {
  const bool allow = effect == schema::RuleEffect::kAllow;
  return testing::rule(allow ? "syscalls.allow[0]" : "syscalls.deny[0]", effect, "call",
                       schema::SelectorType::kSyscall, name);
}

schema::Requirement syscalls() {
  return testing::requirement(Domain::kSyscall, "syscalls.allow",
                              {syscall_rule(schema::RuleEffect::kAllow, "@default"),
                               syscall_rule(schema::RuleEffect::kDeny, "sysinfo"),
                               syscall_rule(schema::RuleEffect::kDeny, "ptrace"),
                               syscall_rule(schema::RuleEffect::kDeny, "ioctl")});
}

Observing observing_syscalls(schema::OutcomeKind kind = schema::OutcomeKind::kObserved) {
  schema::PlanResolved plan;
  plan.outcomes.emplace_back();
  plan.outcomes.back().domain = Domain::kSyscall;
  plan.outcomes.back().kind = kind;
  return {plan, {syscalls()}};
}

schema::Event event(DecisionOutcome outcome, DecisionCause cause, const std::string& rule) {
  schema::Event one;
  one.outcome = outcome;
  one.cause = cause;
  one.rule = rule;
  return one;
}

TEST(ObservingTest, OnlyDomainsThatThePlanObservesAre) {
  EXPECT_TRUE(observing_syscalls().covers(Domain::kSyscall));
  EXPECT_FALSE(observing_syscalls().covers(Domain::kIpc));
  EXPECT_FALSE(observing_syscalls(schema::OutcomeKind::kEnforced).any());
}

TEST(ObservingTest, RefusalsOfThePolicyAreLetThroughAndOfSelfProtectionNot) {
  const Observing observing = observing_syscalls();
  const auto denied = [](const char* rule, DecisionCause cause = DecisionCause::kPolicy) {
    return event(DecisionOutcome::kDenied, cause, rule);
  };
  EXPECT_TRUE(observing.lets_through(denied("syscalls.allow")));
  EXPECT_FALSE(observing.lets_through(denied("self_protection.unshare")));
  EXPECT_FALSE(observing.lets_through(denied("syscalls.allow", DecisionCause::kFault)));
  EXPECT_FALSE(Observing().lets_through(denied("syscalls.allow")));
}

TEST(ObservingTest, AnEventIsAnObservationADecisionOrNothing) {
  const Observing observing = observing_syscalls();
  const auto form = [&](DecisionOutcome outcome, DecisionCause cause, const char* rule) {
    return observing.form_of(event(outcome, cause, rule));
  };
  EXPECT_EQ(form(DecisionOutcome::kAllowed, DecisionCause::kPolicy, "syscalls.allow"),
            Form::kObservation);
  EXPECT_EQ(form(DecisionOutcome::kAllowed, DecisionCause::kPolicy, "syscalls.allow[0]"),
            Form::kUnrecorded);
  EXPECT_EQ(form(DecisionOutcome::kDenied, DecisionCause::kHostPermission, "syscalls.allow"),
            Form::kObservation);
  EXPECT_EQ(form(DecisionOutcome::kDenied, DecisionCause::kPolicy, "self_protection.unshare"),
            Form::kDecision);
  EXPECT_EQ(form(DecisionOutcome::kAllowed, DecisionCause::kCompat, "compat.nested_filter"),
            Form::kDecision);
}

class ObservedCallTest : public ::testing::Test {
 protected:
  ObservedCallTest() : policy_(syscalls()), spec_(*make_filter_spec(&policy_, "errno")) {
    spec_.observing = observing_syscalls();
    observe_calls(spec_);
  }
  Classification of(std::int32_t number, std::uint64_t second = 0) const {
    NotifiedCall call;
    call.data.nr = number;
    call.data.arch = kNativeAuditArch;
    call.data.args[1] = second;
    return classify(call, spec_);
  }

  schema::Requirement policy_;
  FilterSpec spec_;
};

TEST_F(ObservedCallTest, WhatPolicyRefusesGoesOnAndIsSeen) {
  const Classification call = of(SYS_sysinfo);
  EXPECT_EQ(number_action(spec_, SYS_sysinfo), NumberAction::kNotify);
  EXPECT_EQ(call.answer, AnswerKind::kContinue);
  EXPECT_FALSE(call.recorded);
  ASSERT_TRUE(call.seen);
  EXPECT_EQ(call.seen->outcome, DecisionOutcome::kAllowed);
  EXPECT_EQ(call.seen->os_errno, 0);
}

TEST_F(ObservedCallTest, WhatSelfProtectionClosesStaysClosedAndIsNotSeen) {
  const Classification call = of(SYS_ptrace);
  EXPECT_EQ(call.answer, AnswerKind::kRefuse);
  EXPECT_EQ(call.event.rule, "self_protection.ptrace");
  EXPECT_FALSE(call.seen);
}

TEST_F(ObservedCallTest, ArgumentsAreJudgedAsIfPolicyAllowedTheCall) {
  EXPECT_EQ(of(SYS_ioctl, 0x5401).answer, AnswerKind::kContinue);
  EXPECT_EQ(of(SYS_ioctl, 0x5412).event.rule, "self_protection.tiocsti");
  EXPECT_TRUE(of(SYS_ioctl, 0x5401).seen);
}

TEST(ObservingTest, TheMeasuredMediationIsNarrowedWhereTheChannelReports) {
  schema::CapabilityProbed measured;
  for (const auto& [domain, unused] : schema::EnumNames<Domain>::kTokens) {
    schema::DomainCapability capability;
    capability.domain = domain;
    capability.support = schema::Support::kFull;
    capability.mediation = schema::Mediation::kEnforce;
    capability.channel.mechanism = domain == Domain::kFilesystemRead ? "none" : "m";
    measured.domains.push_back(capability);
  }
  planner::ExecutionSpec spec;
  spec.mode = planner::EnforcementMode::kObserve;
  const schema::CapabilityProbed narrowed = narrow_capabilities(spec, measured);
  EXPECT_EQ(narrowed.find(Domain::kSyscall)->mediation, schema::Mediation::kObserve);
  EXPECT_EQ(narrowed.find(Domain::kResource)->mediation, schema::Mediation::kEnforce);
  // Reading cannot be told here, so neither is writing let through.
  EXPECT_EQ(narrowed.find(Domain::kFilesystemWrite)->mediation, schema::Mediation::kEnforce);
  spec.mode = planner::EnforcementMode::kEnforce;
  EXPECT_EQ(narrow_capabilities(spec, measured).find(Domain::kSyscall)->mediation,
            schema::Mediation::kEnforce);
}

}  // namespace
}  // namespace aasm::backend_native
