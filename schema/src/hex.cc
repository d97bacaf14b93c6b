#include "aasm/schema/hex.h"

namespace aasm::schema {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

Result<std::uint8_t> nibble(char c) {
  const auto at = kDigits.find(c);
  if (at == std::string_view::npos) {
    return Error(ErrorCode::kMalformed, "hex: not a lower-case hex digit");
  }
  return static_cast<std::uint8_t>(at);
}

}  // namespace

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4U]);
    text.push_back(kDigits[byte & 0xFU]);
  }
  return text;
}

Result<std::vector<std::uint8_t>> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return Error(ErrorCode::kMalformed, "hex: odd number of digits");
  }
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::uint8_t high = AASM_TRY(nibble(text[i]));
    const std::uint8_t low = AASM_TRY(nibble(text[i + 1]));
    bytes.push_back(static_cast<std::uint8_t>((high << 4U) | low));
  }
  return bytes;
}

}  // namespace aasm::schema
