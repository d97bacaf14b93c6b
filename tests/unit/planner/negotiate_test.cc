#include "aasm/planner/negotiate.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planner_support.h"

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::DomainCapability;
using schema::OutcomeKind;
using schema::RefusalReason;
using schema::Requirement;
using schema::RequirementPosture;
using testing::capabilities;
using testing::preventing;
using testing::requirement;

constexpr Domain kDomain = Domain::kFilesystemWrite;

// Reads the digits of a number in mixed radix: every number below the product of the sizes is one
// combination of values.
class Digits {
 public:
  explicit Digits(std::size_t number) : rest_(number) {}

  template <class T, std::size_t N>
  T pick(const std::array<T, N>& values) {
    const std::size_t digit = rest_ % N;
    rest_ /= N;
    return values[digit];
  }
  template <schema::NamedEnum E>
  E pick_any() {
    const auto& tokens = schema::EnumNames<E>::kTokens;
    const std::size_t digit = rest_ % tokens.size();
    rest_ /= tokens.size();
    return tokens[digit].first;
  }
  bool exhausted() const { return rest_ != 0; }

 private:
  std::size_t rest_;
};

// Every combination of the axes of a capability and a requirement; returns how many there are.
std::size_t for_each_pair(
    const std::function<void(const Requirement&, const DomainCapability&)>& visit) {
  for (std::size_t number = 0;; ++number) {
    Digits digits(number);
    Requirement wanted = requirement(kDomain);
    wanted.intent = digits.pick_any<schema::Intent>();
    wanted.evidence = digits.pick_any<schema::EvidenceWish>();
    wanted.posture = digits.pick_any<RequirementPosture>();
    DomainCapability given = preventing(kDomain);
    given.support = digits.pick_any<schema::Support>();
    given.mediation = digits.pick_any<schema::Mediation>();
    given.timing = digits.pick_any<schema::Timing>();
    given.synchrony = digits.pick_any<schema::Synchrony>();
    given.descendants = digits.pick_any<schema::DescendantCoverage>();
    given.prerequisites.push_back({"another", digits.pick_any<schema::PrerequisiteStatus>(), ""});
    given.channel.mechanism = digits.pick(std::array<const char*, 2>{"none", "seccomp_user_notif"});
    if (digits.exhausted()) {
      return number;
    }
    visit(wanted, given);
  }
}

// The specification once more, in other words: everything has to hold.
bool is_met(const Requirement& wanted, const DomainCapability& given) {
  const bool tree = given.descendants == schema::DescendantCoverage::kProcessTree;
  const bool evidence =
      wanted.evidence == schema::EvidenceWish::kSetup || given.channel.mechanism != "none";
  const bool effect = wanted.intent == schema::Intent::kPreventBeforeEffect ? given.can_prevent()
                                                                            : given.can_observe();
  return given.support != schema::Support::kUnsupported && effect && tree && evidence;
}

TEST(NegotiateTest, WhatOnlyObservesMeetsARequirementToPreventOnlyWhereTheOperatorObserves) {
  for_each_pair([&](const Requirement& wanted, DomainCapability given) {
    if (wanted.intent != schema::Intent::kPreventBeforeEffect ||
        given.mediation != schema::Mediation::kObserve) {
      return;
    }
    const Negotiation enforced = negotiate({wanted}, capabilities({given}), {});
    ASSERT_NE(enforced.outcomes[0].kind, OutcomeKind::kObserved);
    Requirement watched = wanted;
    watched.intent = schema::Intent::kObserve;
    const Negotiation observed =
        negotiate({wanted}, capabilities({given}), {}, EnforcementMode::kObserve);
    ASSERT_EQ(observed.outcomes[0].kind == OutcomeKind::kObserved, is_met(watched, given));
    ASSERT_NE(observed.outcomes[0].kind, OutcomeKind::kEnforced);
  });
}

TEST(NegotiateTest, NoCombinationYieldsAPlanWithARequiredRequirementUnmet) {
  std::size_t met = 0;
  std::size_t refused = 0;
  const std::size_t pairs = for_each_pair([&](const Requirement& wanted,
                                              const DomainCapability& given) {
    const Negotiation result = negotiate({wanted}, capabilities({given}), {});
    ASSERT_EQ(result.outcomes.size(), 1U);
    const schema::RequirementOutcome& outcome = result.outcomes[0];
    ASSERT_TRUE(outcome.check());
    if (is_met(wanted, given)) {
      ++met;
      ASSERT_TRUE(result.refusals.empty());
      ASSERT_EQ(result.posture, schema::LaunchPosture::kReady);
      ASSERT_TRUE(outcome.kind == OutcomeKind::kEnforced || outcome.kind == OutcomeKind::kObserved);
      return;
    }
    ++refused;
    ASSERT_NE(outcome.kind, OutcomeKind::kEnforced);
    ASSERT_NE(outcome.kind, OutcomeKind::kObserved);
    ASSERT_EQ(result.posture, schema::LaunchPosture::kDegraded);
    const bool required = wanted.posture == RequirementPosture::kRequired;
    ASSERT_EQ(result.refusals.size(), required ? 1U : 0U);
    ASSERT_EQ(result.unmet.size(), required ? 1U : 0U);
    ASSERT_EQ(outcome.kind, wanted.posture == RequirementPosture::kDegradeIfUnavailable
                                ? OutcomeKind::kDegraded
                                : OutcomeKind::kUnmet);
  });
  EXPECT_EQ(pairs, 2U * 3U * 3U * 3U * 3U * 4U * 3U * 3U * 3U * 2U);
  EXPECT_EQ(met + refused, pairs);
  EXPECT_GT(met, 0U);
}

// Breaks one thing after the other; what is broken stays so for the rows after it.
TEST(NegotiateTest, TheFirstFailingCheckWinsInTheOrderOfTheSpecification) {
  Requirement wanted = requirement(kDomain);
  wanted.evidence = schema::EvidenceWish::kWriteDecisions;
  DomainCapability given = preventing(kDomain);
  given.channel.mechanism = "seccomp_user_notif";
  EXPECT_EQ(first_shortfall(wanted, &given), std::nullopt);
  given.channel.mechanism = "none";
  EXPECT_EQ(first_shortfall(wanted, &given), RefusalReason::kNoEvidenceProduced);
  given.descendants = schema::DescendantCoverage::kTargetProcessOnly;
  EXPECT_EQ(first_shortfall(wanted, &given), RefusalReason::kDescendantCoverageInsufficient);
  given.prerequisites.push_back({"x", schema::PrerequisiteStatus::kUnchecked, ""});
  EXPECT_EQ(first_shortfall(wanted, &given), RefusalReason::kPrerequisiteUnsatisfied);
  given.synchrony = schema::Synchrony::kBestEffort;
  EXPECT_EQ(first_shortfall(wanted, &given), RefusalReason::kDecisionNotSynchronous);
  given.timing = schema::Timing::kPost;
  EXPECT_EQ(first_shortfall(wanted, &given), RefusalReason::kDecisionTooLate);
  given.mediation = schema::Mediation::kObserve;
  EXPECT_EQ(first_shortfall(wanted, &given), RefusalReason::kObserveOnlyForPreventionRequirement);
  given.support = schema::Support::kUnsupported;
  EXPECT_EQ(first_shortfall(wanted, &given), RefusalReason::kDomainUnsupported);
  EXPECT_EQ(first_shortfall(wanted, nullptr), RefusalReason::kNoCapabilityReported);
}

TEST(NegotiateTest, AllFailuresAreReportedTogetherInTheOrderOfTheDomains) {
  const Negotiation result =
      negotiate({requirement(Domain::kResource), requirement(Domain::kIpc),
                 requirement(Domain::kFilesystemRead), requirement(Domain::kSyscall)},
                capabilities({preventing(Domain::kFilesystemRead),
                              testing::unsupported(Domain::kIpc, "not built")}),
                {});
  EXPECT_EQ(result.unmet, (std::vector<Domain>{Domain::kSyscall, Domain::kIpc, Domain::kResource}));
  ASSERT_EQ(result.refusals.size(), 3U);
  EXPECT_EQ(result.refusals[0].reason, RefusalReason::kNoCapabilityReported);
  EXPECT_EQ(result.refusals[1].reason, RefusalReason::kDomainUnsupported);
  ASSERT_EQ(result.outcomes.size(), 4U);
  EXPECT_EQ(result.outcomes[0].kind, OutcomeKind::kEnforced);
}

TEST(NegotiateTest, DegradedOutcomesStateBothLevels) {
  Requirement wanted = requirement(kDomain);
  wanted.posture = RequirementPosture::kDegradeIfUnavailable;
  DomainCapability watching = preventing(kDomain);
  watching.mediation = schema::Mediation::kObserve;
  schema::RequirementOutcome outcome =
      negotiate({wanted}, capabilities({watching}), {}).outcomes[0];
  EXPECT_EQ(outcome.planned, "prevent_before_effect");
  EXPECT_EQ(outcome.achieved, "none");  // nobody would see an action
  watching.channel.mechanism = "seccomp_user_notification";
  outcome = negotiate({wanted}, capabilities({watching}), {}).outcomes[0];
  EXPECT_EQ(outcome.achieved, "observe");
  outcome = negotiate({wanted}, capabilities({}), {}).outcomes[0];
  EXPECT_EQ(outcome.achieved, "none");
  wanted.evidence = schema::EvidenceWish::kDecisions;
  outcome = negotiate({wanted}, capabilities({preventing(kDomain)}), {}).outcomes[0];
  EXPECT_EQ(outcome.reason, RefusalReason::kNoEvidenceProduced);
  EXPECT_EQ(outcome.planned, "prevent_before_effect, evidence decisions");
  EXPECT_EQ(outcome.achieved, "prevent_before_effect, evidence setup");
}

TEST(NegotiateTest, PartialSupportDoesNotDisqualify) {
  DomainCapability partial = preventing(kDomain);
  partial.support = schema::Support::kPartial;
  partial.limitations = {"stat(2) is not covered"};
  EXPECT_TRUE(negotiate({requirement(kDomain)}, capabilities({partial}), {}).refusals.empty());
}

TEST(NegotiateTest, WithIsolationNoneNothingIsNegotiated) {
  const std::vector<schema::RequirementOutcome> outcomes =
      unconfined_outcomes({requirement(Domain::kSyscall), requirement(Domain::kFilesystemRead)});
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].domain, Domain::kFilesystemRead);
  for (const schema::RequirementOutcome& outcome : outcomes) {
    EXPECT_EQ(outcome.kind, OutcomeKind::kNoBoundary);
    EXPECT_TRUE(outcome.check());
  }
}

}  // namespace
}  // namespace aasm::planner
