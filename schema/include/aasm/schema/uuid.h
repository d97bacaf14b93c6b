#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "aasm/schema/result.h"

namespace aasm::schema {

// A UUID version 7 (RFC 9562 section 5.7) in its one accepted spelling: 36 characters, lower case.
// Valid by construction, except that a default-constructed RunId is empty.
class RunId {
 public:
  RunId() = default;
  static Result<RunId> parse(std::string_view text);
  // Built from milliseconds since the epoch (48 bits used) and ten bytes of randomness.
  static RunId make(std::uint64_t unix_ms, std::span<const std::uint8_t, 10> random);

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  auto operator<=>(const RunId&) const = default;

 private:
  std::string text_;
};

// A version 4 UUID from sixteen bytes of randomness, lower case.
std::string make_uuid4(std::span<const std::uint8_t, 16> random);

}  // namespace aasm::schema
