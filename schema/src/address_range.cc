#include "aasm/schema/address_range.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>

#include <arpa/inet.h>

namespace aasm::schema {

std::optional<AddressRange> parse_address(std::string_view text) {
  const std::string terminated(text);
  AddressRange range;
  if (terminated.find('\0') != std::string::npos) {
    return std::nullopt;
  }
  range.v6 = ::inet_pton(AF_INET6, terminated.c_str(), range.bytes.data()) == 1;
  if (!range.v6 && ::inet_pton(AF_INET, terminated.c_str(), range.bytes.data()) != 1) {
    return std::nullopt;
  }
  range.bits = range.width();
  return range;
}

std::optional<int> parse_plain_decimal(std::string_view text, int most) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  const bool plain = fault == std::errc() && stop == end && std::to_string(value) == text;
  return plain && value >= 0 && value <= most ? std::optional<int>(value) : std::nullopt;
}

AddressRange without_mapping(const AddressRange& range) {
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!range.v6 || range.bits < 96 ||
      !std::equal(kMapped.begin(), kMapped.end(), range.bytes.begin())) {
    return range;
  }
  AddressRange plain;
  std::copy(range.bytes.begin() + 12, range.bytes.end(), plain.bytes.begin());
  plain.bits = range.bits - 96;
  return plain;
}

bool range_contains(const AddressRange& outer, const AddressRange& inner) {
  if (outer.v6 != inner.v6 || outer.bits > inner.bits) {
    return false;
  }
  const auto whole = static_cast<std::size_t>(outer.bits / 8);
  const int rest = outer.bits % 8;
  return std::equal(outer.bytes.begin(), outer.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                    inner.bytes.begin()) &&
         (rest == 0 || outer.bytes.at(whole) >> (8 - rest) == inner.bytes.at(whole) >> (8 - rest));
}

}  // namespace aasm::schema
