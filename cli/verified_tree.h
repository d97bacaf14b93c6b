#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

namespace aasm::cli {

// The signed tree that a verification found right.
struct VerifiedTree {
  std::uint64_t size = 0;
  schema::TreeHash root;
};

// A record that was read after that, by its number, and the hash of what was read.
using ReadRecord = std::pair<std::uint64_t, schema::LeafHash>;

// Whether each record is one that was verified: `leaves` are those of the file as it is now, and
// need not be trusted. kConflict: one of them is another, or not in the tree.
schema::Result<void> check_read(const VerifiedTree& tree, std::span<const schema::LeafHash> leaves,
                                const std::vector<ReadRecord>& read);

}  // namespace aasm::cli
