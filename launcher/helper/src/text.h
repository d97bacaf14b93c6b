#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): there is no C++ library here.

namespace aasm::helper {

inline constexpr uint32_t kTextSize = 64;

inline uint32_t length_of(const char* text) {
  uint32_t length = 0;
  while (text[length] != '\0') {
    ++length;
  }
  return length;
}

// A small text of ours: always ended, cut at its capacity.
struct Text {
  char bytes[kTextSize];
  uint32_t size;

  void add(const char* text) {
    while (*text != '\0' && size + 1 < kTextSize) {
      bytes[size++] = *text++;
    }
    bytes[size] = '\0';
  }
  void add_number(long value) {
    char digits[20];
    uint32_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    while (count > 0 && size + 1 < kTextSize) {
      bytes[size++] = digits[--count];
    }
    bytes[size] = '\0';
  }
};

}  // namespace aasm::helper
