#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "oracle.h"
#include "sample_run.h"
#include "support/dice.h"

// Invariant 1 of docs/spec/product.md section 6: no decision record, no prevention claim. Random
// sequences, near a valid run and far from it, are judged by the rules and by the oracle.
namespace aasm::claims::test {
namespace {

using aasm::test::Dice;
using aasm::test::property_rounds;
using schema::ClaimTerm;
using schema::Domain;

std::string any_rule(Dice& dice) {
  constexpr std::array<const char*, 7> kRules = {
      "syscalls.deny[0]", "syscalls.allow",       "syscalls.allow[0]",       "network.allowlist",
      "compat.clone3",    "self_protection.kill", "filesystem.read.allow[0]"};
  return kRules.at(dice.below(kRules.size()));
}

void change_event(Dice& dice, schema::Event& event) {
  switch (dice.below(12)) {
    case 0:
      event.outcome = dice.any<schema::DecisionOutcome>();
      break;
    case 1:
      event.cause = dice.any<schema::DecisionCause>();
      break;
    case 2:
      event.reply = dice.any<schema::ReplyState>();
      break;
    case 3:
      event.timing = dice.any<schema::Timing>();
      break;
    case 4:
      event.synchrony = dice.any<schema::Synchrony>();
      break;
    case 5:
      event.rule = any_rule(dice);
      break;
    case 6:
      event.mechanism = dice.one_in(2) ? "landlock" : "seccomp_user_notification";
      break;
    case 7:
      event.domain = dice.any<Domain>();
      break;
    case 8:
      event.count = static_cast<std::int64_t>(dice.below(5)) + 1;
      break;
    case 9:
      event.os_errno = dice.one_in(2) ? 0 : 4096;
      break;
    case 10:
      event.object = address_object(dice.one_in(2) ? "10.0.0.1" : "::1", 443, "tcp");
      break;
    default:
      event.nested_filter = !event.nested_filter;
      break;
  }
}

void change_control(Dice& dice, schema::Control& control) {
  switch (dice.below(4)) {
    case 0:
      control.purpose = dice.any<schema::Purpose>();
      break;
    case 1:
      control.installed = !control.installed;
      break;
    case 2:
      control.mechanism = dice.one_in(2) ? "landlock" : "seccomp_user_notification";
      break;
    default:
      control.rules = {any_rule(dice), any_rule(dice)};
      break;
  }
}

void change_plan(Dice& dice, schema::PlanResolved& plan) {
  schema::RequirementOutcome& one = plan.outcomes.at(dice.below(plan.outcomes.size()));
  one.kind = dice.any<schema::OutcomeKind>();
  if (dice.one_in(2)) {
    one.reason = dice.any<schema::RefusalReason>();
  }
  plan.experimental = dice.one_in(6);
}

void change_policy(Dice& dice, schema::PolicyResolved& policy) {
  if (dice.one_in(3)) {
    policy.on_denial = policy.on_denial == "kill" ? "errno" : "kill";
  } else if (!policy.requirements.empty()) {
    const std::size_t at = dice.below(policy.requirements.size());
    if (dice.one_in(2)) {
      policy.requirements.erase(policy.requirements.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      policy.requirements[at].default_rule = any_rule(dice);
    }
  }
}

schema::Event any_event(Dice& dice) {
  schema::Event event = dice.one_in(2) ? denied_ptrace() : allowed_prctl();
  for (std::size_t i = dice.below(4); i > 0; --i) {
    change_event(dice, event);
  }
  return event;
}

schema::RecordBody any_batch(Dice& dice) {
  std::vector<schema::Event> events;
  for (std::size_t i = dice.below(3) + 1; i > 0; --i) {
    events.push_back(any_event(dice));
  }
  schema::DecisionBatch decided = decisions(std::move(events));
  if (dice.one_in(4)) {
    schema::ObservationBatch observed;
    static_cast<schema::EventBatch&>(observed) = decided;
    return observed;
  }
  return decided;
}

schema::RecordBody any_refusal(Dice& dice) {
  schema::PlanRefused refused;
  schema::Refusal refusal;
  refusal.domain = dice.any<Domain>();
  refusal.reason = dice.any<schema::RefusalReason>();
  refused.refusals.push_back(refusal);
  return refused;
}

void change_opened(Dice& dice, schema::RunOpened& opened) {
  switch (dice.below(3)) {
    case 0:
      opened.claims_rules = dice.one_in(4) ? "claims/9" : "claims/1";
      break;
    case 1:
      opened.isolation = dice.any<schema::IsolationClass>();
      break;
    default:
      opened.enforcement_mode = dice.one_in(2) ? "disabled" : "enforce";
      break;
  }
}

void change_body(Dice& dice, schema::RecordBody& body) {
  if (auto* batch = std::get_if<schema::DecisionBatch>(&body)) {
    change_event(dice, batch->events.at(dice.below(batch->events.size())));
  } else if (auto* prepared = std::get_if<schema::ControlPrepared>(&body)) {
    change_control(dice, prepared->controls.at(dice.below(prepared->controls.size())));
  } else if (auto* plan = std::get_if<schema::PlanResolved>(&body)) {
    change_plan(dice, *plan);
  } else if (auto* policy = std::get_if<schema::PolicyResolved>(&body)) {
    change_policy(dice, *policy);
  } else if (auto* exited = std::get_if<schema::ProcessExited>(&body)) {
    exited->cause = dice.any<schema::ExitCause>();
  } else if (auto* opened = std::get_if<schema::RunOpened>(&body)) {
    change_opened(dice, *opened);
  }
}

// One change to the sequence: a record goes, comes, moves, or is another.
void mutate(Dice& dice, Records& run) {
  const std::size_t at = dice.below(run.size());
  const auto place = run.begin() + static_cast<std::ptrdiff_t>(at);
  switch (dice.below(12)) {
    case 0:
      if (run.size() > 1) {
        run.erase(place);
      }
      break;
    case 1: {
      const Step copy = run[dice.below(run.size())];
      run.insert(place, copy);
      break;
    }
    case 2:
      std::swap(run[at], run[dice.below(run.size())]);
      break;
    case 3:
      run[at].boot = run[at].boot == kBoot ? kOtherBoot : kBoot;
      break;
    case 4:
      run[at].signer_ok = !run[at].signer_ok;
      break;
    case 5: {
      Step step;
      step.body = any_batch(dice);
      run.insert(place, step);
      break;
    }
    case 6: {
      Step step;
      step.body = any_refusal(dice);
      run.insert(place, step);
      break;
    }
    default:
      change_body(dice, run[at].body);
      break;
  }
  renumber(run);
}

Records any_run(Dice& dice, const Records& valid) {
  Records run = valid;
  for (std::size_t i = dice.below(7); i > 0; --i) {
    mutate(dice, run);
  }
  if (dice.one_in(10)) {
    for (std::size_t i = run.size(); i > 1; --i) {
      std::swap(run[i - 1], run[dice.below(i)]);
    }
    renumber(run);
  }
  return run;
}

std::string describe(const Records& run) {
  std::string text;
  for (const Step& step : run) {
    text += std::string(schema::kind_of(step.body)) + (step.boot == kBoot ? "" : "!boot") +
            (step.signer_ok ? "" : "!signer") + " ";
  }
  return text;
}

// The sample run without what no rule reads, so that 10^5 rounds take seconds.
Records small_run() {
  Records run = sample_run();
  schema::PolicyResolved& policy = body_of<schema::PolicyResolved>(run);
  std::erase_if(policy.requirements, [](const schema::Requirement& one) {
    return one.domain == Domain::kFilesystemWrite || one.domain == Domain::kCredential;
  });
  policy.gaps.clear();
  policy.unmapped.clear();
  body_of<schema::PlanResolved>(run).candidates.clear();
  body_of<schema::CapabilityProbed>(run).domains.clear();
  schema::ControlPrepared& prepared = body_of<schema::ControlPrepared>(run);
  prepared.controls = {prepared.controls.at(2), prepared.controls.at(5)};
  return run;
}

bool has(const RunClaims& claims, ContradictionCode code) {
  return std::any_of(claims.contradictions.begin(), claims.contradictions.end(),
                     [code](const Contradiction& one) { return one.code == code; });
}

// A denial that the kernel took and that returned no error, on a domain.
bool counts_success(const Records& run, Domain domain) {
  for (const Step& step : run) {
    const auto* batch = std::get_if<schema::DecisionBatch>(&step.body);
    if (batch == nullptr) {
      continue;
    }
    for (const schema::Event& event : batch->events) {
      if (event.reply == schema::ReplyState::kAccepted && event.os_errno == 0 &&
          oracle_counts(run, step, event, domain)) {
        return true;
      }
    }
  }
  return false;
}

bool enforces(const Records& run) {
  for (const Step& step : run) {
    if (const auto* opened = std::get_if<schema::RunOpened>(&step.body)) {
      return opened->isolation != schema::IsolationClass::kNone &&
             opened->enforcement_mode != "disabled";
    }
  }
  return false;
}

// What no claim of prevention may stand beside: that nothing was to be enforced, that a denial that
// counts returned success, that no control for policy was on a domain that was planned enforced.
void expect_no_overclaim(const Records& run, const RunClaims& claims) {
  for (const DomainClaim& claim : claims.domains) {
    if (claim.claim != ClaimTerm::kDeniedBeforeExecution) {
      continue;
    }
    ASSERT_TRUE(enforces(run) || has(claims, ContradictionCode::kDeniedWithoutBoundary))
        << describe(run);
    ASSERT_TRUE(has(claims, ContradictionCode::kDeniedWithoutErrno) ||
                !counts_success(run, claim.domain))
        << describe(run);
    // In a domain whose refusals were to be let through: by the plan, or by one that came late.
    ASSERT_TRUE(claim.boundary != schema::BoundaryState::kAbsent ||
                has(claims, ContradictionCode::kDeniedWhileObserving) ||
                has(claims, ContradictionCode::kSetupAfterStart))
        << describe(run);
  }
}

class SequencesTest : public ::testing::TestWithParam<std::uint64_t> {};

// AASM_PROPERTY_ROUNDS is the number of rounds over all seeds.
constexpr std::size_t kSeeds = 8;

TEST_P(SequencesTest, NeverClaimOtherThanTheOracle) {
  const Records valid = small_run();
  Dice dice(GetParam());
  std::array<std::size_t, 11> seen{};
  const std::size_t count = property_rounds(100000) / kSeeds;
  for (std::size_t round = 0; round < count; ++round) {
    const Records run = any_run(dice, valid);
    const RunClaims claims = claims_of(run);
    ASSERT_NO_FATAL_FAILURE(expect_no_overclaim(run, claims)) << "round " << round;
    for (const DomainClaim& claim : claims.domains) {
      const OracleAnswer answer = oracle(run, claim.domain);
      ASSERT_EQ(claim.claim, answer.term)
          << "round " << round << ", " << schema::token(claim.domain) << ": " << describe(run);
      if (claim.claim) {
        ++seen.at(static_cast<std::size_t>(*claim.claim));
        ASSERT_EQ(claim.denied_actions, answer.denied_actions) << "round " << round;
      }
      ASSERT_TRUE(claim.claim != ClaimTerm::kDeniedBeforeExecution ||
                  claim.basis == schema::Basis::kDecision);
    }
  }
  // The comparison says something only if the sequences reach each term that claims/1 can yield.
  EXPECT_GT(seen.at(static_cast<std::size_t>(ClaimTerm::kDeniedBeforeExecution)), count / 20);
  for (const auto& [term, name] : schema::EnumNames<ClaimTerm>::kTokens) {
    const bool never = term == ClaimTerm::kRedacted || term == ClaimTerm::kApprovalRequired;
    EXPECT_EQ(seen.at(static_cast<std::size_t>(term)) == 0, never) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(PropertyTest, SequencesTest,
                         ::testing::Range<std::uint64_t>(1, kSeeds + 1));

TEST(PropertyTest, DroppingTheDecisionsDropsEveryPreventionClaim) {
  const Records valid = sample_run();
  Dice dice(7);
  for (int round = 0; round < 2000; ++round) {
    Records run = any_run(dice, valid);
    std::erase_if(run, [](const Step& step) {
      return std::holds_alternative<schema::DecisionBatch>(step.body);
    });
    for (const DomainClaim& claim : claims_of(run).domains) {
      ASSERT_NE(claim.claim, ClaimTerm::kDeniedBeforeExecution) << describe(run);
      ASSERT_NE(claim.claim, ClaimTerm::kEvaluated) << describe(run);
      ASSERT_NE(claim.basis, schema::Basis::kDecision) << describe(run);
    }
  }
}

}  // namespace
}  // namespace aasm::claims::test
