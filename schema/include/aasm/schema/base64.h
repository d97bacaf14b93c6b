#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/result.h"

namespace aasm::schema {

// RFC 4648 section 4, padded. from_base64 accepts only the one canonical spelling (padding
// present, unused bits zero, no white space), so from_base64(x) == b implies x == to_base64(b).
std::string to_base64(std::span<const std::uint8_t> bytes);
Result<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace aasm::schema
