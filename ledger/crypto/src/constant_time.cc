#include "aasm/crypto/constant_time.h"

#include <cstddef>

namespace aasm::crypto {

bool equal_constant_time(schema::ByteView left, schema::ByteView right) {
  if (left.size() != right.size()) {
    return false;
  }
  // volatile: otherwise a compiler may turn the loop into one that leaves early.
  volatile std::uint8_t difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference = static_cast<std::uint8_t>(difference | (left[i] ^ right[i]));
  }
  return difference == 0;
}

}  // namespace aasm::crypto
