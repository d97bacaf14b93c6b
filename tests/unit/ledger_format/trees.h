#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aasm/crypto/hash.h"
#include "aasm/schema/digest.h"

namespace aasm::test {

// Different leaf hashes, the same ones each time.
inline std::vector<schema::LeafHash> sample_leaves(std::size_t count) {
  std::vector<schema::LeafHash> leaves;
  for (std::size_t i = 0; i < count; ++i) {
    const schema::Bytes seed = {static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i >> 8)};
    leaves.push_back({crypto::sha256(seed).bytes});
  }
  return leaves;
}

}  // namespace aasm::test
