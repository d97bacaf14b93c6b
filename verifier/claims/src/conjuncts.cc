#include "conjuncts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace aasm::claims {
namespace {

using schema::Control;
using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Purpose;
using schema::ReplyState;
using schema::Synchrony;
using schema::Timing;

constexpr std::string_view kSelfProtectionPrefix = "self_protection.";

using EventTest = bool (*)(const RuleTwoInput&);
using ControlTest = bool (*)(const RuleTwoInput&, const Held<Control>&);

constexpr std::array<std::pair<Conjunct, EventTest>, 11> kEventTests = {{
    {Conjunct::kDecisionRecord, is_decision_record},
    {Conjunct::kAfterStart, is_after_start},
    {Conjunct::kSameBoot, is_same_boot},
    {Conjunct::kRightSigner, is_right_signer},
    {Conjunct::kOutcomeDenied, is_outcome_denied},
    {Conjunct::kCausePolicy, is_cause_policy},
    {Conjunct::kReplyAccepted, is_reply_accepted},
    {Conjunct::kTimingPre, is_timing_pre},
    {Conjunct::kSynchronous, is_synchronous},
    {Conjunct::kNotSelfProtection, is_not_self_protection},
    {Conjunct::kRuleOfRequirement, is_rule_of_requirement},
}};

constexpr std::array<std::pair<Conjunct, ControlTest>, 6> kControlTests = {{
    {Conjunct::kRuleInControl, lists_rule},
    {Conjunct::kControlForPolicy, is_for_policy},
    {Conjunct::kControlInstalled, is_installed},
    {Conjunct::kEnforcingComponent, is_enforcing_component},
    {Conjunct::kControlBeforeStart, stands_before_start},
    {Conjunct::kControlTrustworthy, is_trustworthy},
}};
static_assert(kEventTests.size() + kControlTests.size() == kNumConjuncts);

bool contains(const std::vector<std::string>& rules, std::string_view rule) {
  return std::find(rules.begin(), rules.end(), rule) != rules.end();
}

// How many of the tests, in order, this control satisfies.
std::size_t progress(const RuleTwoInput& in, const Held<Control>& control) {
  const auto* const stop =
      std::find_if(kControlTests.begin(), kControlTests.end(),
                   [&](const auto& test) { return !test.second(in, control); });
  return static_cast<std::size_t>(stop - kControlTests.begin());
}

}  // namespace

bool is_decision_record(const RuleTwoInput& in) {
  return in.in_decision_batch;
}

bool is_after_start(const RuleTwoInput& in) {
  return in.facts.started() && in.facts.started()->mark.seq < in.mark.seq;
}

bool is_same_boot(const RuleTwoInput& in) {
  const auto& facts = in.facts;
  return facts.opened() && in.mark.same_boot &&
         (!facts.policy() || facts.policy()->mark.same_boot) &&
         (!facts.started() || facts.started()->mark.same_boot);
}

bool is_right_signer(const RuleTwoInput& in) {
  const auto& facts = in.facts;
  return facts.opened() && facts.opened()->mark.signer_ok && in.mark.signer_ok &&
         (!facts.policy() || facts.policy()->mark.signer_ok) &&
         (!facts.started() || facts.started()->mark.signer_ok);
}

bool is_outcome_denied(const RuleTwoInput& in) {
  return in.event.outcome == DecisionOutcome::kDenied;
}

bool is_cause_policy(const RuleTwoInput& in) {
  return in.event.cause == DecisionCause::kPolicy;
}

bool is_reply_accepted(const RuleTwoInput& in) {
  switch (in.event.reply) {
    case ReplyState::kAccepted:
      return true;
    case ReplyState::kKilledWhileBlocked:
      // Only where policy asks for a kill is a dead caller the answer that was decided.
      return in.facts.policy() && in.facts.policy()->body.kills(in.event.domain);
    case ReplyState::kCallerGone:
      return false;
  }
  return false;
}

bool is_timing_pre(const RuleTwoInput& in) {
  return in.event.timing == Timing::kPre;
}

bool is_synchronous(const RuleTwoInput& in) {
  return in.event.synchrony == Synchrony::kSync;
}

bool is_not_self_protection(const RuleTwoInput& in) {
  return !in.event.rule.starts_with(kSelfProtectionPrefix);
}

bool is_rule_of_requirement(const RuleTwoInput& in) {
  const schema::Requirement* requirement = in.facts.requirement(in.event.domain);
  return requirement != nullptr && requirement->names_rule(in.event.rule) &&
         in.facts.before_start(in.facts.policy()->mark);
}

bool lists_rule(const RuleTwoInput& in, const Held<Control>& control) {
  return contains(control.body.rules, in.event.rule);
}

bool is_for_policy(const RuleTwoInput& /*in*/, const Held<Control>& control) {
  return control.body.purpose == Purpose::kPolicy;
}

bool is_installed(const RuleTwoInput& /*in*/, const Held<Control>& control) {
  return control.body.installed;
}

bool is_enforcing_component(const RuleTwoInput& in, const Held<Control>& control) {
  return !in.event.mechanism.empty() && control.body.mechanism == in.event.mechanism;
}

bool stands_before_start(const RuleTwoInput& in, const Held<Control>& control) {
  return in.facts.before_start(control.mark);
}

bool is_trustworthy(const RuleTwoInput& /*in*/, const Held<Control>& control) {
  return control.mark.trustworthy();
}

std::optional<Conjunct> first_failed_conjunct(const RuleTwoInput& in) {
  for (const auto& [conjunct, holds] : kEventTests) {
    if (!holds(in)) {
      return conjunct;
    }
  }
  std::size_t best = 0;
  for (const Held<Control>& control : in.facts.controls()) {
    best = std::max(best, progress(in, control));
  }
  if (best == kControlTests.size()) {
    return std::nullopt;
  }
  return kControlTests.at(best).first;
}

bool is_self_protection_rule(const RunFacts& facts, std::string_view rule) {
  if (rule.starts_with(kSelfProtectionPrefix)) {
    return true;
  }
  bool listed = false;
  for (const Held<Control>& control : facts.controls()) {
    if (contains(control.body.rules, rule)) {
      if (control.body.purpose == Purpose::kPolicy) {
        return false;
      }
      listed = true;
    }
  }
  return listed;
}

}  // namespace aasm::claims
