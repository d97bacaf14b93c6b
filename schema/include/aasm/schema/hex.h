#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/result.h"

namespace aasm::schema {

// Lower-case, no separators. `from_hex(to_hex(b)) == b` for every b; no other
// spelling of the same bytes is accepted.
std::string to_hex(std::span<const std::uint8_t> bytes);
Result<std::vector<std::uint8_t>> from_hex(std::string_view text);

}  // namespace aasm::schema
