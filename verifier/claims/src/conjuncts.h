#pragma once

#include <optional>
#include <string_view>

#include "aasm/claims/conjunct.h"
#include "aasm/claims/facts.h"

namespace aasm::claims {

// One event as rule 2 looks at it. Borrows; lives for one call.
struct RuleTwoInput {
  const RunFacts& facts;
  const RecordMark& mark;  // of the record that holds the event
  const schema::Event& event;
  bool in_decision_batch = false;
};

// Each conjunct of rule 2 by itself: docs/spec/product.md section 5.
bool is_decision_record(const RuleTwoInput& in);
bool is_after_start(const RuleTwoInput& in);
bool is_same_boot(const RuleTwoInput& in);
bool is_right_signer(const RuleTwoInput& in);
bool is_outcome_denied(const RuleTwoInput& in);
bool is_cause_policy(const RuleTwoInput& in);
bool is_reply_accepted(const RuleTwoInput& in);
bool is_timing_pre(const RuleTwoInput& in);
bool is_synchronous(const RuleTwoInput& in);
bool is_not_self_protection(const RuleTwoInput& in);
bool is_rule_of_requirement(const RuleTwoInput& in);

// Those about the one control that has to satisfy all of them.
bool lists_rule(const RuleTwoInput& in, const Held<schema::Control>& control);
bool is_for_policy(const RuleTwoInput& in, const Held<schema::Control>& control);
bool is_installed(const RuleTwoInput& in, const Held<schema::Control>& control);
bool is_enforcing_component(const RuleTwoInput& in, const Held<schema::Control>& control);
bool stands_before_start(const RuleTwoInput& in, const Held<schema::Control>& control);
bool is_trustworthy(const RuleTwoInput& in, const Held<schema::Control>& control);

// nullopt: rule 2 accepts the event. Otherwise the first conjunct, in the order of the vocabulary,
// that does not hold; for those about a control, the one where the best control stops.
std::optional<Conjunct> first_failed_conjunct(const RuleTwoInput& in);

// True for a rule that self-protection alone carries: by its name, or because only controls of that
// purpose list it.
bool is_self_protection_rule(const RunFacts& facts, std::string_view rule);

}  // namespace aasm::claims
