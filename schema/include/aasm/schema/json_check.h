#pragma once

#include <cstddef>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/result.h"

namespace aasm::schema {

// How much of the profile's limits is left for a value that will stand inside another.
struct JsonRoom {
  std::size_t depth = kJsonMaxDepth;
  std::size_t members = kJsonMaxMembers;
};

// Whether json_parse() would take the text that json_write() makes of `value`: integers, keys and
// the limits of `aasm-json-1` (what a JsonValue cannot hold, and broken UTF-8, which json_write()
// aborts on, need no look). kMalformed says what is outside. Costs a tenth of writing and parsing.
Result<void> json_check(const JsonValue& value, JsonRoom room = {});

}  // namespace aasm::schema
