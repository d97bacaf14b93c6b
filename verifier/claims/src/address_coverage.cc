#include "address_coverage.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <arpa/inet.h>

namespace aasm::claims {
namespace {

using schema::SelectorType;

// An address, or the leading bits of a range of them. IPv4 that is mapped into IPv6 is IPv4.
struct Range {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};
  int bits = 0;
};

std::optional<int> decimal(std::string_view text, int most) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  const bool plain = fault == std::errc() && stop == end && std::to_string(value) == text;
  return plain && value >= 0 && value <= most ? std::optional<int>(value) : std::nullopt;
}

std::optional<Range> parse_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string address(text.substr(0, slash));
  Range range;
  if (address.find('\0') != std::string::npos) {
    return std::nullopt;
  }
  range.v6 = ::inet_pton(AF_INET6, address.c_str(), range.bytes.data()) == 1;
  if (!range.v6 && ::inet_pton(AF_INET, address.c_str(), range.bytes.data()) != 1) {
    return std::nullopt;
  }
  const int width = range.v6 ? 128 : 32;
  const std::optional<int> bits =
      slash == std::string_view::npos ? width : decimal(text.substr(slash + 1), width);
  if (!bits) {
    return std::nullopt;
  }
  range.bits = *bits;
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (range.v6 && range.bits >= 96 &&
      std::equal(kMapped.begin(), kMapped.end(), range.bytes.begin())) {
    Range plain;
    std::copy(range.bytes.begin() + 12, range.bytes.end(), plain.bytes.begin());
    plain.bits = range.bits - 96;
    return plain;
  }
  return range;
}

bool holds(const Range& range, const Range& address) {
  if (range.v6 != address.v6 || range.bits > address.bits) {
    return false;
  }
  for (int i = 0; i < range.bits; ++i) {
    const auto byte = static_cast<std::size_t>(i / 8);
    if (((range.bytes.at(byte) ^ address.bytes.at(byte)) >> (7 - i % 8) & 1U) != 0) {
      return false;
    }
  }
  return true;
}

// What a selector says, cut apart. `port` and `protocol` absent: any.
struct Statement {
  std::string_view host;
  std::optional<int> port;
  std::optional<std::string_view> protocol;
};

// nullopt: a text that no policy lowers to.
std::optional<Statement> cut(SelectorType type, std::string_view text) {
  Statement statement;
  if (type == SelectorType::kAddressRange) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) {
      return std::nullopt;
    }
    statement.protocol = text.substr(slash + 1);
    text = text.substr(0, slash);
  } else if (type == SelectorType::kHostPattern) {
    statement.protocol = "tcp";
  }
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    statement.host = text;
    return statement;
  }
  statement.port = decimal(text.substr(colon + 1), 65535);
  statement.host = text.substr(0, colon);
  return statement.port ? std::optional<Statement>(statement) : std::nullopt;
}

}  // namespace

Coverage covers_address(const schema::Selector& selector, const schema::EventObject& object) {
  const std::optional<Range> address =
      object.address && object.address->find('/') == std::string::npos
          ? parse_range(*object.address)
          : std::nullopt;
  if (!address) {
    return Coverage::kNotCovered;
  }
  const std::optional<Statement> statement = cut(selector.type, selector.value.bytes());
  if (!statement) {
    return Coverage::kUndecided;
  }
  if ((statement->port && *statement->port != object.port) ||
      (statement->protocol && *statement->protocol != object.protocol)) {
    return Coverage::kNotCovered;
  }
  std::string_view host = statement->host;
  if (host == "*") {
    return Coverage::kCovered;
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const std::optional<Range> range = parse_range(host);
  if (!range) {
    return Coverage::kUndecided;
  }
  return holds(*range, *address) ? Coverage::kCovered : Coverage::kNotCovered;
}

}  // namespace aasm::claims
