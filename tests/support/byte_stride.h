#pragma once

#include <cstddef>
#include <cstdlib>

namespace aasm::test {

// How far apart the bytes are that a test changes one by one: `stride` (odd, so that every bit has
// its turn), or 1 with AASM_TEST_EVERY_BYTE=1. (verify waits 25 ms before it reads a file without a
// WAL that was written just now.)
inline std::size_t byte_stride(std::size_t stride) {
  return std::getenv("AASM_TEST_EVERY_BYTE") != nullptr ? 1 : stride;
}

}  // namespace aasm::test
