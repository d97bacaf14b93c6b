#pragma once

#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_policy.h"

#include "coverage.h"

namespace aasm::claims {

// Whether a selector of type host_pattern, address_range or port covers the address of an event
// (docs/spec/product.md 5.2). A rule by host name is undecided where its port and protocol fit: no
// record says yet which addresses a name had.
Coverage covers_address(const schema::Selector& selector, const schema::EventObject& object);

}  // namespace aasm::claims
