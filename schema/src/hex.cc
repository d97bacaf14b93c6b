#include "aasm/schema/hex.h"

#include <array>

namespace aasm::schema {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

constexpr std::uint8_t kNoDigit = 0xFF;

constexpr std::array<std::uint8_t, 256> make_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i) {
    values[static_cast<std::uint8_t>(kDigits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr std::array<std::uint8_t, 256> kValues = make_values();

std::uint8_t value_of(char c) {
  return kValues[static_cast<std::uint8_t>(c)];
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
    const std::uint8_t high = value_of(text[i]);
    const std::uint8_t low = value_of(text[i + 1]);
    if (high == kNoDigit || low == kNoDigit) {
      return Error(ErrorCode::kMalformed, "hex: not a lower-case hex digit");
    }
    bytes.push_back(static_cast<std::uint8_t>((high << 4U) | low));
  }
  return bytes;
}

}  // namespace aasm::schema
