#pragma once

#include <cstdint>

#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_policy.h"

namespace aasm::claims {

enum class Coverage : std::uint8_t {
  kCovered,
  kNotCovered,
  kUndecided,  // the event does not hold what the comparison needs
};

// Whether `selector` covers the resolved object of an event. Paths compare by component and have to
// be in resolved form: absolute, no empty, "." or ".." component. Host names compare without regard
// to ASCII case and to a final dot; "*.suffix" needs at least one label before the suffix. An
// address against a host name, an address range or a port is undecided: this version of Event
// carries neither a parsed address nor the answer that gave it out.
Coverage covers(const schema::Selector& selector, const schema::EventObject& object);

}  // namespace aasm::claims
