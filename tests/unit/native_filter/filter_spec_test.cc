#include "filter_spec.h"

#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "filter_policy.h"

namespace aasm::backend_native {
namespace {

schema::PolicyRule whole(schema::RuleEffect effect, std::string id) {
  schema::PolicyRule rule;
  rule.id = std::move(id);
  rule.effect = effect;
  rule.operation = "call";
  rule.selector.type = schema::SelectorType::kWhole;
  return rule;
}

TEST(FilterSpecTest, UnstatedPolicyLeavesOrdinaryCallsOpenAndClosesOurs) {
  const FilterSpec spec = unstated_spec();
  EXPECT_FALSE(spec.stated);
  EXPECT_FALSE(spec.default_notify);
  EXPECT_EQ(number_action(spec, SYS_openat), NumberAction::kAllow);
  EXPECT_EQ(number_action(spec, SYS_shmget), NumberAction::kAllow);
  EXPECT_EQ(number_action(spec, 4000), NumberAction::kAllow);
  EXPECT_EQ(number_action(spec, SYS_ptrace), NumberAction::kNotify);
  EXPECT_EQ(number_action(spec, SYS_clone3), NumberAction::kNotify);
  EXPECT_EQ(number_action(spec, SYS_ioctl), NumberAction::kJudgeIoctl);
}

TEST(FilterSpecTest, AllowListRefusesWhatItDoesNotName) {
  const FilterSpec spec = spec_of(syscall_policy({"read", "clone"}));
  EXPECT_TRUE(spec.default_notify);
  EXPECT_EQ(number_action(spec, SYS_read), NumberAction::kAllow);
  EXPECT_EQ(number_action(spec, SYS_clone), NumberAction::kJudgeClone);
  EXPECT_EQ(number_action(spec, SYS_write), NumberAction::kNotify);
  EXPECT_EQ(number_action(spec, 4000), NumberAction::kNotify);
}

TEST(FilterSpecTest, DenyOutranksAllowWhateverTheOrder) {
  schema::Requirement requirement = syscall_policy({"read", "write"}, {"write"});
  EXPECT_EQ(number_action(spec_of(requirement), SYS_write), NumberAction::kNotify);
  std::swap(requirement.rules.front(), requirement.rules.back());
  EXPECT_EQ(number_action(spec_of(requirement), SYS_write), NumberAction::kNotify);
  EXPECT_EQ(number_action(spec_of(requirement), SYS_read), NumberAction::kAllow);
}

TEST(FilterSpecTest, AllowOfTheWholeLeavesOpenWhatNothingCloses) {
  const FilterSpec spec = spec_of(open_policy({"chmod"}));
  EXPECT_TRUE(spec.stated);
  EXPECT_FALSE(spec.default_notify);
  EXPECT_EQ(number_action(spec, SYS_chmod), NumberAction::kNotify);
  EXPECT_EQ(number_action(spec, SYS_openat), NumberAction::kAllow);
  EXPECT_EQ(number_action(spec, SYS_mount), NumberAction::kNotify);
}

TEST(FilterSpecTest, EmptyListPermitsNothing) {
  EXPECT_EQ(number_action(spec_of(syscall_policy({})), SYS_read), NumberAction::kNotify);
  EXPECT_EQ(number_action(spec_of(syscall_policy({}, {"chmod"})), SYS_read), NumberAction::kNotify);

  schema::Requirement denied = syscall_policy({"read"});
  denied.rules.push_back(whole(schema::RuleEffect::kDeny, "syscalls.allow"));
  const FilterSpec spec = spec_of(denied);
  EXPECT_EQ(number_action(spec, SYS_read), NumberAction::kNotify);
  EXPECT_EQ(spec.default_rule, "syscalls.allow");
}

TEST(FilterSpecTest, RuleIdsAreThoseOfTheFirstRuleThatNamesTheCall) {
  const FilterSpec spec = spec_of(syscall_policy({"@default", "read"}, {"chmod", "@debug"}));
  EXPECT_EQ(spec.allowed.at(SYS_read), "syscalls.allow[0]");
  EXPECT_EQ(spec.denied.at(SYS_chmod), "syscalls.deny[0]");
  EXPECT_EQ(spec.denied.at(SYS_ptrace), "syscalls.deny[1]");
}

TEST(FilterSpecTest, NamingAnOpenableCallOpensItAndNamingAnyOtherDoesNot) {
  const FilterSpec debug = spec_of(syscall_policy({"@default", "@debug"}));
  EXPECT_EQ(number_action(debug, SYS_ptrace), NumberAction::kAllow);
  EXPECT_EQ(number_action(debug, SYS_process_vm_readv), NumberAction::kAllow);
  const FilterSpec named = spec_of(syscall_policy({"ptrace", "mount", "clone3"}));
  EXPECT_EQ(number_action(named, SYS_ptrace), NumberAction::kAllow);
  EXPECT_EQ(number_action(named, SYS_mount), NumberAction::kNotify);
  EXPECT_EQ(number_action(named, SYS_clone3), NumberAction::kNotify);
  EXPECT_EQ(number_action(named, SYS_process_vm_readv), NumberAction::kNotify);
}

TEST(FilterSpecTest, RendezvousIsAlwaysNotified) {
  EXPECT_EQ(number_action(unstated_spec(), 0xAA51), NumberAction::kNotify);
  EXPECT_EQ(number_action(spec_of(syscall_policy({"@default"})), 0xAA51), NumberAction::kNotify);
}

TEST(FilterSpecTest, CallsOfOtherArchitecturesAreAcceptedAndChangeNothing) {
  const FilterSpec spec = spec_of(syscall_policy({"read", "socketcall"}));
  EXPECT_EQ(spec.allowed.size(), 1U);
}

TEST(FilterSpecTest, SelectorsThatNameNothingAreErrors) {
  for (const std::string_view value : {"opneat", "@defaults", "@", "syscall_3"}) {
    const schema::Requirement requirement = syscall_policy({value});
    const auto spec = make_filter_spec(&requirement, "errno");
    ASSERT_FALSE(spec) << value;
    EXPECT_EQ(spec.error().code(), schema::ErrorCode::kInvalidArgument) << value;
    EXPECT_NE(spec.error().message().find("syscalls.allow[0]"), std::string::npos);
  }
  schema::Requirement other = syscall_policy({"read"});
  other.rules[0].selector.type = schema::SelectorType::kPathPrefix;
  EXPECT_FALSE(make_filter_spec(&other, "errno"));
}

TEST(FilterSpecTest, OnDenialIsErrnoOrKill) {
  const schema::Requirement requirement = syscall_policy({"read"});
  EXPECT_TRUE(spec_of(requirement, "kill").kill_on_denial);
  EXPECT_FALSE(spec_of(requirement, "errno").kill_on_denial);
  EXPECT_FALSE(make_filter_spec(&requirement, "KILL"));
  EXPECT_FALSE(make_filter_spec(&requirement, ""));
  // Nothing is stated, so nothing is denied by policy, so nothing kills.
  EXPECT_FALSE(make_filter_spec(nullptr, "kill")->kill_on_denial);
}

}  // namespace
}  // namespace aasm::backend_native
