#include "aasm/schema/base64.h"

#include <array>

namespace aasm::schema {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNotADigit = 0xFF;

constexpr std::array<std::uint8_t, 256> make_digit_values() {
  std::array<std::uint8_t, 256> values{};
  for (auto& value : values) {
    value = kNotADigit;
  }
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<std::uint8_t>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}

constexpr std::array<std::uint8_t, 256> kDigitValues = make_digit_values();

void append_group(std::string& text, std::uint32_t group, std::size_t num_digits) {
  for (std::size_t i = 0; i < num_digits; ++i) {
    text += kAlphabet[(group >> (18U - 6U * i)) & 0x3FU];
  }
}

std::size_t padding_of(std::string_view text) {
  if (text.empty() || text.back() != '=') {
    return 0;
  }
  return text[text.size() - 2] == '=' ? 2 : 1;
}

Result<std::uint32_t> read_digits(std::string_view digits) {
  std::uint32_t group = 0;
  for (const char c : digits) {
    const std::uint8_t value = kDigitValues[static_cast<std::uint8_t>(c)];
    if (value == kNotADigit) {
      return Error(ErrorCode::kMalformed, "base64: not a digit of the standard alphabet");
    }
    group = (group << 6U) | value;
  }
  return group;
}

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::size_t at = 0;
  for (; at + 3 <= bytes.size(); at += 3) {
    append_group(
        text,
        (std::uint32_t{bytes[at]} << 16U) | (std::uint32_t{bytes[at + 1]} << 8U) | bytes[at + 2],
        4);
  }
  const std::size_t left = bytes.size() - at;
  if (left == 1) {
    append_group(text, std::uint32_t{bytes[at]} << 16U, 2);
    text += "==";
  } else if (left == 2) {
    append_group(text, (std::uint32_t{bytes[at]} << 16U) | (std::uint32_t{bytes[at + 1]} << 8U), 3);
    text += '=';
  }
  return text;
}

Result<std::vector<std::uint8_t>> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return Error(ErrorCode::kMalformed, "base64: length is not a multiple of four");
  }
  const std::size_t padding = padding_of(text);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3);
  const std::size_t num_whole = text.size() - (padding == 0 ? 0 : 4);
  for (std::size_t at = 0; at < num_whole; at += 4) {
    const std::uint32_t group = AASM_TRY(read_digits(text.substr(at, 4)));
    bytes.push_back(static_cast<std::uint8_t>(group >> 16U));
    bytes.push_back(static_cast<std::uint8_t>(group >> 8U));
    bytes.push_back(static_cast<std::uint8_t>(group));
  }
  if (padding == 0) {
    return bytes;
  }
  // The last group holds 12 or 18 bits, of which 8 or 16 are data: the rest must be zero.
  const std::uint32_t tail = AASM_TRY(read_digits(text.substr(num_whole, 4 - padding)));
  const std::uint32_t unused_bits = padding == 2 ? 4 : 2;
  if ((tail & ((1U << unused_bits) - 1U)) != 0) {
    return Error(ErrorCode::kMalformed, "base64: unused bits of the last digit are not zero");
  }
  const std::uint32_t data = tail >> unused_bits;
  if (padding == 1) {
    bytes.push_back(static_cast<std::uint8_t>(data >> 8U));
  }
  bytes.push_back(static_cast<std::uint8_t>(data));
  return bytes;
}

}  // namespace aasm::schema
