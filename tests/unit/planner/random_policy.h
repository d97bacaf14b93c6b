#pragma once

#include <string>
#include <vector>

#include "aasm/planner/policy_document.h"
#include "aasm/schema/record_plan.h"

#include "support/dice.h"

// Random documents and capability sets for property tests: small vocabularies, so that statements
// meet, cover and contradict each other.
namespace aasm::planner::testing {

using aasm::test::Dice;
using aasm::test::property_rounds;

PolicyDocument random_document(Dice& dice);
schema::CapabilityProbed random_capabilities(Dice& dice);

// The lists of texts that allow something, and that deny something, as far as they are stated.
std::vector<TextList*> allowing_lists(PolicyDocument& document);
std::vector<TextList*> denying_lists(PolicyDocument& document);

// A further statement that can only take away: a deny entry, or a capability denied.
void deny_something(Dice& dice, PolicyDocument& document);

}  // namespace aasm::planner::testing
