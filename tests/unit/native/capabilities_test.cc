#include "capabilities.h"

#include <cerrno>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

using schema::Attempt;
using schema::AttemptOutcome;
using schema::ChannelReport;
using schema::Domain;
using schema::DomainCapability;
using schema::PrerequisiteStatus;
using schema::ProbeAttempt;
using schema::Support;
using ::testing::HasSubstr;

constexpr Attempt kWorked{AttemptOutcome::kSucceeded, 0};
constexpr Attempt kRefused{AttemptOutcome::kRefused, EACCES};
constexpr Attempt kBroken{AttemptOutcome::kError, ENOENT};

ProbeAttempt pair(Attempt control, Attempt inside,
                  ChannelReport channel = ChannelReport::kNotApplicable) {
  return {"an action", control, inside, channel};
}

const ProbeAttempt kScopeWatched = pair(kWorked, kRefused);

struct AxesRow {
  const char* why;
  ProbeAttempt attempt;
  Support support;
  PrerequisiteStatus prerequisite;
  bool fail_closed;
};

class DeriveCapabilityTest : public ::testing::TestWithParam<AxesRow> {};

TEST_P(DeriveCapabilityTest, FollowsWhatWasWatched) {
  const AxesRow& row = GetParam();
  const DomainCapability capability =
      derive_capability(Domain::kFilesystemRead, {row.attempt}, kScopeWatched);
  EXPECT_EQ(capability.support, row.support) << row.why;
  ASSERT_FALSE(capability.prerequisites.empty());
  EXPECT_EQ(capability.prerequisites[0].status, row.prerequisite) << row.why;
  EXPECT_EQ(capability.failure == schema::FailurePosture::kFailClosed, row.fail_closed) << row.why;
  EXPECT_EQ(capability.descendants == schema::DescendantCoverage::kProcessTree, row.fail_closed)
      << row.why;
}

INSTANTIATE_TEST_SUITE_P(
    Rows, DeriveCapabilityTest,
    ::testing::Values(AxesRow{"denied inside alone", pair(kWorked, kRefused), Support::kPartial,
                              PrerequisiteStatus::kSatisfied, true},
                      AxesRow{"permitted inside", pair(kWorked, kWorked), Support::kUnsupported,
                              PrerequisiteStatus::kUnsatisfied, false},
                      AxesRow{"the control failed too", pair(kBroken, kRefused), Support::kPartial,
                              PrerequisiteStatus::kUnchecked, false},
                      AxesRow{"failed inside for another reason", pair(kWorked, kBroken),
                              Support::kPartial, PrerequisiteStatus::kUnchecked, false},
                      AxesRow{"never attempted", pair({}, {}), Support::kPartial,
                              PrerequisiteStatus::kUnchecked, false}));

TEST(DeriveCapabilityTest, NothingAttemptedSatisfiesNothing) {
  const DomainCapability capability = derive_capability(Domain::kFilesystemRead, {}, kScopeWatched);
  EXPECT_NE(capability.failure, schema::FailurePosture::kFailClosed);
  EXPECT_EQ(capability.descendants, schema::DescendantCoverage::kUnmeasured);
}

TEST(DeriveCapabilityTest, OnePermittedAttemptAmongDeniedOnesIsUnsupported) {
  const DomainCapability capability = derive_capability(
      Domain::kFilesystemWrite, {pair(kWorked, kRefused), pair(kWorked, kWorked)}, kScopeWatched);
  EXPECT_EQ(capability.support, Support::kUnsupported);
  EXPECT_FALSE(capability.reason.empty());
}

TEST(DeriveCapabilityTest, APermittedSignalLeavesThePrerequisiteUnsatisfiedAndNamesTheScope) {
  const DomainCapability capability =
      derive_capability(Domain::kFilesystemRead, {pair(kWorked, kRefused)}, pair(kWorked, kWorked));
  ASSERT_EQ(capability.prerequisites.size(), 2U);
  EXPECT_EQ(capability.prerequisites[1].status, PrerequisiteStatus::kUnsatisfied);
  EXPECT_THAT(capability.prerequisites[1].text, HasSubstr("signal scope (Landlock ABI 6)"));
}

TEST(DeriveCapabilityTest, OnlyAReportedCallGivesTheSyscallChannel) {
  const DomainCapability reported = derive_capability(
      Domain::kSyscall, {pair(kWorked, kRefused, ChannelReport::kReported)}, kScopeWatched);
  EXPECT_EQ(reported.channel.mechanism, "seccomp_user_notification");
  const DomainCapability silent = derive_capability(
      Domain::kSyscall, {pair(kWorked, kRefused, ChannelReport::kNotReported)}, kScopeWatched);
  EXPECT_EQ(silent.channel.mechanism, "none");
}

TEST(DeriveCapabilityTest, FilesystemDomainsHaveNoChannel) {
  for (const Domain domain : {Domain::kFilesystemRead, Domain::kFilesystemWrite}) {
    EXPECT_EQ(derive_capability(domain, {pair(kWorked, kRefused)}, kScopeWatched).channel.mechanism,
              "none");
  }
}

TEST(DeriveCapabilityTest, PartialSupportNamesItsLimitations) {
  for (const auto& [domain, token] : schema::EnumNames<Domain>::kTokens) {
    const DomainCapability capability =
        derive_capability(domain, {pair(kWorked, kRefused)}, kScopeWatched);
    EXPECT_EQ(capability.support == Support::kPartial, !capability.limitations.empty());
  }
}

TEST(DeriveCapabilityTest, WhereSingleCallsOnFilesCannotBeDecidedLandlockKeepsThemAllTheSame) {
  schema::ProbeAttempt landlock = pair(kWorked, kRefused);
  landlock.channel = schema::ChannelReport::kNotApplicable;
  schema::ProbeAttempt decision = pair(kWorked, {AttemptOutcome::kError, EPERM});
  decision.channel = schema::ChannelReport::kReported;
  const DomainCapability kept =
      derive_capability(Domain::kFilesystemWrite, {landlock, decision}, kScopeWatched);
  EXPECT_EQ(kept.channel.mechanism, "none");
  EXPECT_EQ(kept.descendants, schema::DescendantCoverage::kProcessTree);
  for (const schema::Prerequisite& one : kept.prerequisites) {
    EXPECT_EQ(one.status, schema::PrerequisiteStatus::kSatisfied) << one.detail;
  }
  decision.inside = kRefused;
  EXPECT_EQ(derive_capability(Domain::kFilesystemWrite, {landlock, decision}, kScopeWatched)
                .channel.mechanism,
            "seccomp_user_notification");
  EXPECT_NE(derive_capability(Domain::kFilesystemWrite, {decision}, kScopeWatched).descendants,
            schema::DescendantCoverage::kProcessTree)
      << "the channel alone says nothing of Landlock";
}

}  // namespace
}  // namespace aasm::backend_native
