#pragma once

#include <string>

#include "aasm/schema/json_value.h"

namespace aasm::schema {

// The canonical text of `value`: RFC 8785 (JCS), restricted to profile `aasm-json-1`. Members are
// sorted by UTF-16 code units (keys are ASCII, so byte order). Precondition: strings are valid
// UTF-8 (PathBytes turns other bytes into {"b64":...}); violated, it aborts. Integer range, the
// alphabet of keys, duplicate keys and the limits are not looked at: json_parse() of the result is
// that check, and what stores the text does it.
std::string json_write(const JsonValue& value);

}  // namespace aasm::schema
