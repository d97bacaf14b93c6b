#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "aasm/schema/result.h"

namespace aasm::schema {

// UTC wall time as RFC 3339 with exactly nine fractional digits and "Z":
// "2026-01-02T03:04:05.123456789Z". `unix_ns` is nanoseconds since 1970-01-01T00:00:00Z, >= 0:
// a negative value aborts.
std::string format_wall(std::int64_t unix_ns);
// The inverse; refuses every other spelling, impossible dates, leap seconds (second 60) and times
// before 1970 or after 2262-04-11T23:47:16.854775807Z, where 64 bits of nanoseconds end.
Result<std::int64_t> parse_wall(std::string_view text);

}  // namespace aasm::schema
