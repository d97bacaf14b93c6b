#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/planner/negotiate.h"
#include "aasm/planner/widening.h"
#include "aasm/schema/json_write.h"

#include "planner_support.h"
#include "random_policy.h"

// Lowering and negotiation over random documents and capability sets. AASM_PROPERTY_ROUNDS is the
// number of rounds of each test.
namespace aasm::planner {
namespace {

using schema::Domain;
using schema::OutcomeKind;
using schema::Requirement;
using schema::RequirementOutcome;
using schema::RequirementPosture;
using testing::Dice;

LoweredPolicy lowered_here(const PolicyDocument& document) {
  testing::FakeHost host;
  host.links = {{"/a/link", "/b/c"}};
  return lower_policy(document, host.resolver());
}

std::vector<std::string> members(std::string_view group) {
  return group == "@default" ? std::vector<std::string>{"openat", "read", "write"}
                             : std::vector<std::string>{"ptrace"};
}

template <class T>
std::string bytes_of(const std::vector<T>& list) {
  std::string text;
  for (const T& one : list) {
    text += schema::json_write(schema::write_fields(one)) + "\n";
  }
  return text;
}

std::string bytes_of(const LoweredPolicy& policy) {
  return bytes_of(policy.requirements) + bytes_of(policy.gaps) + bytes_of(policy.unmapped);
}

// What a requirement says, whichever entry of the document said it.
std::set<std::string> sense_of(const Requirement& requirement) {
  std::set<std::string> sense = {std::string(token(requirement.posture)) + " " +
                                 std::string(token(requirement.evidence)) + " " +
                                 requirement.default_rule};
  for (const schema::PolicyRule& rule : requirement.rules) {
    sense.insert(std::string(token(rule.effect)) + " " + rule.operation + " " +
                 std::string(token(rule.selector.type)) + " " + rule.selector.value.bytes());
  }
  return sense;
}

std::string text_of(const std::vector<Widening>& list) {
  std::string text;
  for (const Widening& one : list) {
    text += one.rule + ": " + one.reason + "\n";
  }
  return text;
}

class PlanPropertyTest : public ::testing::Test {
 protected:
  // Calls `check` with dice of their own for each round; the seed stands in each failure.
  template <class Check>
  static void rounds(Check check) {
    const std::uint64_t rounds = testing::property_rounds(1500);
    for (std::uint64_t seed = 0; seed < rounds && !HasFailure(); ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Dice dice(seed);
      check(dice);
    }
  }
};

TEST_F(PlanPropertyTest, TheSameDocumentGivesTheSameBytes) {
  rounds([](Dice& dice) {
    const PolicyDocument document = testing::random_document(dice);
    EXPECT_EQ(bytes_of(lowered_here(document)), bytes_of(lowered_here(document)));
  });
}

TEST_F(PlanPropertyTest, ADomainHasOneRequirementAtMostAndEachRuleAnIdOfItsOwn) {
  rounds([](Dice& dice) {
    const LoweredPolicy policy = lowered_here(testing::random_document(dice));
    ASSERT_EQ(policy.places.size(), policy.requirements.size());
    for (std::size_t i = 0; i < policy.requirements.size(); ++i) {
      const Requirement& one = policy.requirements[i];
      EXPECT_TRUE(i == 0 || policy.requirements[i - 1].domain < one.domain);
      EXPECT_EQ(policy.places[i].domain, one.domain);
      EXPECT_TRUE(one.check());
      std::set<std::string> ids;
      for (const schema::PolicyRule& rule : one.rules) {
        EXPECT_TRUE(rule.check() && rule.selector.check()) << rule.id;
        EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
      }
    }
  });
}

TEST_F(PlanPropertyTest, TheOrderOfEntriesMakesNoDifference) {
  rounds([](Dice& dice) {
    PolicyDocument document = testing::random_document(dice);
    const LoweredPolicy before = lowered_here(document);
    for (TextList* list : testing::allowing_lists(document)) {
      dice.shuffle(list->entries);
    }
    for (TextList* list : testing::denying_lists(document)) {
      dice.shuffle(list->entries);
    }
    if (document.network && document.network->egress) {
      dice.shuffle(document.network->egress->entries);
    }
    const LoweredPolicy after = lowered_here(document);
    ASSERT_EQ(after.requirements.size(), before.requirements.size());
    EXPECT_EQ(after.state, before.state);
    for (std::size_t i = 0; i < before.requirements.size(); ++i) {
      const std::set<std::string> said = sense_of(before.requirements[i]);
      // A capability is named by the place that takes it away, of which several may.
      if (!before.requirements[i].default_rule.starts_with("capabilities.")) {
        EXPECT_EQ(sense_of(after.requirements[i]), said);
      }
      EXPECT_EQ(text_of(widening(before.requirements[i], after.requirements[i], members)), "");
    }
  });
}

TEST_F(PlanPropertyTest, WhatTakesAwayNeverWidens) {
  rounds([](Dice& dice) {
    PolicyDocument document = testing::random_document(dice);
    const LoweredPolicy before = lowered_here(document);
    const std::vector<TextList*> lists = testing::allowing_lists(document);
    if (!lists.empty() && dice.one_in(2)) {
      std::vector<TextEntry>& entries = dice.of(lists)->entries;
      if (!entries.empty()) {
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(dice.below(entries.size())));
      }
    } else {
      testing::deny_something(dice, document);
    }
    const LoweredPolicy after = lowered_here(document);
    EXPECT_EQ(text_of(widening(before.requirements, after.requirements, members)), "");
    EXPECT_EQ(text_of(widening(before.credentials, after.credentials)), "");
  });
}

TEST_F(PlanPropertyTest, AnEntryMoreIsSeenAsAWideningUnlessSomethingCoversOrDeniesIt) {
  std::uint64_t seen = 0;
  rounds([&](Dice& dice) {
    PolicyDocument document = testing::random_document(dice);
    const LoweredPolicy before = lowered_here(document);
    if (!document.syscalls || !document.syscalls->allow) {
      return;
    }
    document.syscalls->allow->entries.push_back({"io_uring_setup", 99, {1, 1}});
    const auto found = widening(before.requirements, lowered_here(document).requirements, members);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rule, "syscalls.allow[99]");
    ++seen;
  });
  EXPECT_GT(seen, 0U);
}

// The eight checks of docs/spec/product.md section 4, written down a second time.
bool is_met(const Requirement& one, const schema::DomainCapability* can) {
  if (can == nullptr || can->support == schema::Support::kUnsupported) {
    return false;
  }
  const bool prevents = one.intent == schema::Intent::kPreventBeforeEffect;
  bool satisfied = true;
  for (const schema::Prerequisite& need : can->prerequisites) {
    satisfied = satisfied && need.status == schema::PrerequisiteStatus::kSatisfied;
  }
  const bool before = can->mediation == schema::Mediation::kEnforce &&
                      can->timing == schema::Timing::kPre &&
                      can->synchrony == schema::Synchrony::kSync && satisfied;
  const bool whole_tree = one.descendants != schema::DescendantCoverage::kProcessTree ||
                          can->descendants == schema::DescendantCoverage::kProcessTree;
  const bool reported =
      one.evidence == schema::EvidenceWish::kSetup || can->channel.mechanism != "none";
  return (prevents ? before : can->can_observe()) && whole_tree && reported;
}

// Requirements as a document gives them, and now and then of a kind that none gives yet.
std::vector<Requirement> random_requirements(Dice& dice) {
  std::vector<Requirement> requirements = lowered_here(testing::random_document(dice)).requirements;
  for (Requirement& one : requirements) {
    one.intent = dice.one_in(5) ? schema::Intent::kObserve : one.intent;
    one.descendants = dice.one_in(5) ? dice.any<schema::DescendantCoverage>() : one.descendants;
    one.evidence = dice.one_in(3) ? dice.any<schema::EvidenceWish>() : one.evidence;
  }
  return requirements;
}

void check_outcome(const Requirement& one, const RequirementOutcome& outcome, bool met) {
  EXPECT_EQ(outcome.domain, one.domain);
  EXPECT_EQ(outcome.posture, one.posture);
  EXPECT_TRUE(outcome.check());
  EXPECT_EQ(outcome.reason.has_value(), !met);
  EXPECT_FALSE(outcome.planned.empty() || outcome.achieved.empty());
  if (met) {
    EXPECT_EQ(outcome.kind, one.intent == schema::Intent::kPreventBeforeEffect
                                ? OutcomeKind::kEnforced
                                : OutcomeKind::kObserved);
    EXPECT_EQ(outcome.achieved, outcome.planned);
    return;
  }
  const bool degrades = one.posture == RequirementPosture::kDegradeIfUnavailable;
  EXPECT_EQ(outcome.kind, degrades ? OutcomeKind::kDegraded : OutcomeKind::kUnmet);
  EXPECT_NE(outcome.achieved, outcome.planned);
  EXPECT_FALSE(outcome.detail.empty());
}

TEST_F(PlanPropertyTest, EveryRequirementHasOneOutcomeAndARequiredShortfallRefuses) {
  rounds([](Dice& dice) {
    const std::vector<Requirement> requirements = random_requirements(dice);
    const schema::CapabilityProbed can = testing::random_capabilities(dice);
    const Negotiation result = negotiate(requirements, can, {});
    ASSERT_EQ(result.outcomes.size(), requirements.size());
    std::vector<Domain> refused;
    bool ready = true;
    for (std::size_t i = 0; i < requirements.size(); ++i) {
      const Requirement& one = requirements[i];
      const bool met = is_met(one, can.find(one.domain));
      check_outcome(one, result.outcomes[i], met);
      ready = ready && met;
      if (!met && one.posture == RequirementPosture::kRequired) {
        refused.push_back(one.domain);
      }
    }
    EXPECT_EQ(result.unmet, refused);
    EXPECT_EQ(result.refusals.size(), refused.size());
    EXPECT_EQ(result.posture == schema::LaunchPosture::kReady, ready);
    for (const schema::Refusal& refusal : result.refusals) {
      EXPECT_TRUE(refusal.check());
      EXPECT_FALSE(refusal.detail.empty() || refusal.fix.empty());
    }
  });
}

TEST_F(PlanPropertyTest, TheOrderOfRequirementsAndCapabilitiesMakesNoDifference) {
  rounds([](Dice& dice) {
    std::vector<Requirement> requirements = random_requirements(dice);
    schema::CapabilityProbed can = testing::random_capabilities(dice);
    const Negotiation before = negotiate(requirements, can, {});
    dice.shuffle(requirements);
    dice.shuffle(can.domains);
    const Negotiation after = negotiate(requirements, can, {});
    EXPECT_EQ(bytes_of(after.outcomes), bytes_of(before.outcomes));
    EXPECT_EQ(bytes_of(after.refusals), bytes_of(before.refusals));
    EXPECT_EQ(after.posture, before.posture);
  });
}

TEST_F(PlanPropertyTest, ALesserCapabilityMeetsNothingMore) {
  rounds([](Dice& dice) {
    const std::vector<Requirement> requirements = random_requirements(dice);
    schema::CapabilityProbed can = testing::random_capabilities(dice);
    const Negotiation before = negotiate(requirements, can, {});
    if (can.domains.empty()) {
      return;
    }
    schema::DomainCapability& one = can.domains[dice.below(can.domains.size())];
    switch (dice.below(6)) {
      case 0:
        one.support = schema::Support::kUnsupported;
        break;
      case 1:
        one.timing = std::max(one.timing, schema::Timing::kPost);  // kNone is less still
        break;
      case 2:
        one.synchrony = std::max(one.synchrony, schema::Synchrony::kBestEffort);
        break;
      case 3:
        one.prerequisites.push_back({"more", schema::PrerequisiteStatus::kUnchecked, ""});
        break;
      case 4:
        one.descendants = std::max(one.descendants, schema::DescendantCoverage::kTargetProcessOnly);
        break;
      default:
        one.channel.mechanism = "none";
        break;
    }
    const Negotiation after = negotiate(requirements, can, {});
    for (std::size_t i = 0; i < before.outcomes.size(); ++i) {
      EXPECT_TRUE(before.outcomes[i].reason == std::nullopt ||
                  after.outcomes[i].reason != std::nullopt);
    }
  });
}

}  // namespace
}  // namespace aasm::planner
