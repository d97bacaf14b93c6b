#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

// RFC 6962 section 2.1 over leaf hashes. Pure.
namespace aasm::ledger_format {

schema::TreeHash empty_root();  // SHA-256("")
// SHA-256(0x01 || left || right).
schema::TreeHash node_hash(const schema::TreeHash& left, const schema::TreeHash& right);
// A leaf hash seen as the root of a tree of size 1.
inline schema::TreeHash as_node(const schema::LeafHash& leaf) {
  return {leaf.bytes};
}

// A tree of which only the right edge is kept: one hash per set bit of its size. Value type;
// append() and root() cost O(log size).
class CompactRange {
 public:
  CompactRange() = default;  // the empty tree

  // From a stored frontier: the 32-byte hashes of the perfect subtrees of `size`, left to right,
  // laid end to end. kMalformed unless there are exactly popcount(size) of them.
  static schema::Result<CompactRange> from_frontier(std::uint64_t size, schema::ByteView frontier);

  void append(const schema::LeafHash& leaf);
  std::uint64_t size() const { return size_; }
  schema::TreeHash root() const;
  schema::Bytes frontier() const;  // the inverse of from_frontier(); empty for size 0
  const std::vector<schema::TreeHash>& hashes() const { return hashes_; }

  bool operator==(const CompactRange&) const = default;

 private:
  std::uint64_t size_ = 0;
  std::vector<schema::TreeHash> hashes_;  // left to right
};

// The root over `leaves`.
schema::TreeHash merkle_root(std::span<const schema::LeafHash> leaves);

// A longer path than this belongs to no tree of fewer than 2^63 leaves.
inline constexpr std::size_t kMaxProofHashes = 63;
using ProofPath = std::vector<schema::TreeHash>;

// True when `path` (from the leaf's sibling up to the root's child) proves that `leaf` stands at
// `index` in the tree of `size` leaves with `root`. False for index >= size.
bool verify_inclusion(const schema::LeafHash& leaf, std::uint64_t index, std::uint64_t size,
                      std::span<const schema::TreeHash> path, const schema::TreeHash& root);

// True when `path` proves that the tree (`first`, `first_root`) is a prefix of (`second`,
// `second_root`). Equal sizes need equal roots and an empty path. False for first == 0: nothing
// is proven about an empty tree, so callers that start from size 0 decide that themselves.
bool verify_consistency(std::uint64_t first, const schema::TreeHash& first_root,
                        std::uint64_t second, const schema::TreeHash& second_root,
                        std::span<const schema::TreeHash> path);

}  // namespace aasm::ledger_format
