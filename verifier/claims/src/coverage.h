#pragma once

#include <cstdint>
#include <string_view>

#include "aasm/claims/name_answers.h"
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
// to ASCII case and to a final dot; "*.suffix" needs at least one label before the suffix.
// Addresses: address_coverage.h; `answers` of the run so far, where there are any.
Coverage covers(const schema::Selector& selector, const schema::EventObject& object,
                const NameAnswers* answers = nullptr);

// Whether a host pattern, with or without a port, matches a name.
bool host_matches(std::string_view pattern, std::string_view name);

}  // namespace aasm::claims
