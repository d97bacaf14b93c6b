#pragma once

#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_policy.h"

#include "coverage.h"

namespace aasm::claims {

// Whether a selector of type host_pattern, address_range or port covers the address of an event
// (docs/spec/product.md 5.2). A rule by host name covers an address whose object has a name
// of the rule, if a lookup of that name gave it before.
Coverage covers_address(const schema::Selector& selector, const schema::EventObject& object,
                        const NameAnswers* answers);

// Adds what an allowed lookup gave.
void note_answers(const schema::EventObject& lookup, NameAnswers& answers);

}  // namespace aasm::claims
