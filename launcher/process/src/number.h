#pragma once

#include <charconv>
#include <string_view>

#include "aasm/schema/result.h"

namespace aasm::process {

// A number without sign, space or prefix that fills the whole of `text`.
template <class T>
schema::Result<T> parse_number(std::string_view text, int base = 10) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, base);
  if (text.empty() || text.front() == '-' || result.ec != std::errc() || result.ptr != end) {
    return schema::Error(schema::ErrorCode::kMalformed, "not a number");
  }
  return value;
}

}  // namespace aasm::process
