#pragma once

#include <cstddef>
#include <string_view>

namespace aasm::schema::detail {

// One code point and the bytes it took. `length` is 0 when the bytes are not well formed.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};

// Decodes the first sequence of `bytes`, which must not be empty (Unicode 15, table 3-7).
CodePoint decode_utf8(std::string_view bytes);

// Index of the first byte that is not part of a well-formed sequence, or npos.
std::size_t find_invalid_utf8(std::string_view bytes);

}  // namespace aasm::schema::detail
