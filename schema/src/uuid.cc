#include "aasm/schema/uuid.h"

#include <algorithm>

#include "aasm/schema/hex.h"

namespace aasm::schema {
namespace {

using UuidBytes = std::array<std::uint8_t, 16>;
constexpr std::string_view kShape = "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh";
constexpr std::size_t kVersionIndex = 14;
constexpr std::size_t kVariantIndex = 19;

bool is_lower_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool has_shape(std::string_view text) {
  if (text.size() != kShape.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kShape[i] == 'h' ? !is_lower_hex(text[i]) : text[i] != '-') {
      return false;
    }
  }
  return true;
}

// RFC 9562 sections 4.1 and 4.2: the version is the high half of byte 6, the variant `10` the two
// high bits of byte 8.
std::string to_text(UuidBytes bytes, std::uint8_t version) {
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0FU) | (unsigned{version} << 4U));
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3FU) | 0x80U);
  std::string text = to_hex(bytes);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) {
    text.insert(dash, 1, '-');
  }
  return text;
}

}  // namespace

Result<RunId> RunId::parse(std::string_view text) {
  if (!has_shape(text)) {
    return Error(ErrorCode::kMalformed, "uuid: not 36 characters of lower-case 8-4-4-4-12 form");
  }
  if (text[kVersionIndex] != '7') {
    return Error(ErrorCode::kMalformed, "uuid: not version 7");
  }
  if (std::string_view("89ab").find(text[kVariantIndex]) == std::string_view::npos) {
    return Error(ErrorCode::kMalformed, "uuid: not the variant of RFC 9562");
  }
  RunId id;
  id.text_ = std::string(text);
  return id;
}

RunId RunId::make(std::uint64_t unix_ms, std::span<const std::uint8_t, 10> random) {
  UuidBytes bytes{};
  for (std::size_t i = 0; i < 6; ++i) {
    bytes[i] = static_cast<std::uint8_t>(unix_ms >> (40U - 8U * i));
  }
  std::copy(random.begin(), random.end(), bytes.begin() + 6);
  RunId id;
  id.text_ = to_text(bytes, 7);
  return id;
}

std::string make_uuid4(std::span<const std::uint8_t, 16> random) {
  UuidBytes bytes{};
  std::copy(random.begin(), random.end(), bytes.begin());
  return to_text(bytes, 4);
}

}  // namespace aasm::schema
