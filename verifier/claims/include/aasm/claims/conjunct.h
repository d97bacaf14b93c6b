#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aasm/schema/enum_names.h"

namespace aasm::claims {

// What rule 2 of claims/1 (docs/spec/product.md section 5) asks of one event, in the order it is
// asked. A denial carries a prevention claim only when every one of them holds; the first that does
// not hold is what the report names beside a denial that was not counted.
enum class Conjunct : std::uint8_t {
  kDecisionRecord,      // it stands in a decision.batch: a decision was taken
  kAfterStart,          // seq(process.started) < seq(decision): workload phase
  kSameBoot,            // run.opened, policy, start and decision were written in one boot
  kRightSigner,         // those records carry the signature of the run key
  kOutcomeDenied,       // the component refused
  kCausePolicy,         // because of policy, not of file modes, faults or compatibility
  kReplyAccepted,       // the kernel took the answer, or the caller was killed while blocked
  kTimingPre,           // before the effect
  kSynchronous,         // the action waited for the decision
  kNotSelfProtection,   // the rule is not one of self-protection
  kRuleOfRequirement,   // the rule names a requirement on this domain in policy.resolved
  kRuleInControl,       // a control lists the rule
  kControlForPolicy,    // that control's purpose is policy
  kControlInstalled,    // and it was installed
  kEnforcingComponent,  // and it installed the mechanism that the event names
  kControlBeforeStart,  // seq(control) < seq(process.started)
  kControlTrustworthy,  // and its record is of this boot, by the run key
};
inline constexpr std::size_t kNumConjuncts = 17;

}  // namespace aasm::claims

template <>
struct aasm::schema::EnumNames<aasm::claims::Conjunct> {
  using E = aasm::claims::Conjunct;
  static constexpr std::string_view kWhat = "conjunct";
  static constexpr std::array<std::pair<E, std::string_view>, aasm::claims::kNumConjuncts> kTokens =
      {{
          {E::kDecisionRecord, "decision_record"},
          {E::kAfterStart, "after_start"},
          {E::kSameBoot, "same_boot"},
          {E::kRightSigner, "right_signer"},
          {E::kOutcomeDenied, "outcome_denied"},
          {E::kCausePolicy, "cause_policy"},
          {E::kReplyAccepted, "reply_accepted"},
          {E::kTimingPre, "timing_pre"},
          {E::kSynchronous, "synchronous"},
          {E::kNotSelfProtection, "not_self_protection"},
          {E::kRuleOfRequirement, "rule_of_requirement"},
          {E::kRuleInControl, "rule_in_control"},
          {E::kControlForPolicy, "control_for_policy"},
          {E::kControlInstalled, "control_installed"},
          {E::kEnforcingComponent, "enforcing_component"},
          {E::kControlBeforeStart, "control_before_start"},
          {E::kControlTrustworthy, "control_trustworthy"},
      }};
};
