#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

// Internet addresses and ranges of them, as rules and events spell them (docs/spec/policy.md).
namespace aasm::schema {

// An IPv4 or IPv6 address with the number of leading bits that count. A range that parses has zeros
// behind them only where its reader asks for that.
struct AddressRange {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // the first four for IPv4
  int bits = 0;

  constexpr int width() const { return v6 ? 128 : 32; }
  bool operator==(const AddressRange&) const = default;
};

// One address as written, all its bits: inet_pton(3). nullopt for what is none.
std::optional<AddressRange> parse_address(std::string_view text);

// A number without sign or leading zeros, at most `most`.
std::optional<int> parse_plain_decimal(std::string_view text, int most);

// ::ffff:a.b.c.d is a.b.c.d, whatever it is called; so is a range of such addresses.
AddressRange without_mapping(const AddressRange& range);

// Whether every address of `inner` is one of `outer`. IPv4 and IPv6 have none in common.
bool range_contains(const AddressRange& outer, const AddressRange& inner);

}  // namespace aasm::schema
