#include <bit>

#include "aasm/ledger_format/merkle.h"

namespace aasm::ledger_format {
namespace {

// The numbers of the node we stand on and of the last node, at the level we have climbed to.
struct Climb {
  std::uint64_t node;
  std::uint64_t last;

  bool at_root() const { return last == 0; }
  // True when the next hash of a path is the left sibling. The last node of a level without a
  // right sibling rises unhashed until it is a right child.
  bool joins_left() const { return (node & 1) != 0 || node == last; }

  void up() {
    node >>= 1;
    last >>= 1;
  }
  void skip_levels_without_sibling() {
    while ((node & 1) == 0 && node != 0) {
      up();
    }
  }
};

}  // namespace

// RFC 9162 section 2.1.3.2.
bool verify_inclusion(const schema::LeafHash& leaf, std::uint64_t index, std::uint64_t size,
                      std::span<const schema::TreeHash> path, const schema::TreeHash& root) {
  if (index >= size) {
    return false;
  }
  Climb climb{index, size - 1};
  schema::TreeHash hash = as_node(leaf);
  for (const schema::TreeHash& sibling : path) {
    if (climb.at_root()) {
      return false;  // the path is too long
    }
    if (climb.joins_left()) {
      hash = node_hash(sibling, hash);
      climb.skip_levels_without_sibling();
    } else {
      hash = node_hash(hash, sibling);
    }
    climb.up();
  }
  return climb.at_root() && hash == root;
}

// RFC 9162 section 2.1.4.2.
bool verify_consistency(std::uint64_t first, const schema::TreeHash& first_root,
                        std::uint64_t second, const schema::TreeHash& second_root,
                        std::span<const schema::TreeHash> path) {
  if (first == 0 || first > second) {
    return false;
  }
  if (first == second) {
    return path.empty() && first_root == second_root;
  }
  if (path.empty()) {
    return false;
  }
  Climb climb{first - 1, second - 1};
  while ((climb.node & 1) != 0) {
    climb.up();
  }
  // The walk starts from the largest perfect subtree that ends the first tree. When that is the
  // first tree itself, its root is known and not in the path.
  const bool starts_from_root = std::has_single_bit(first);
  schema::TreeHash first_hash = starts_from_root ? first_root : path.front();
  schema::TreeHash second_hash = first_hash;
  for (const schema::TreeHash& sibling : path.subspan(starts_from_root ? 0 : 1)) {
    if (climb.at_root()) {
      return false;  // the path is too long
    }
    if (climb.joins_left()) {
      first_hash = node_hash(sibling, first_hash);
      second_hash = node_hash(sibling, second_hash);
      climb.skip_levels_without_sibling();
    } else {
      second_hash = node_hash(second_hash, sibling);
    }
    climb.up();
  }
  return climb.at_root() && first_hash == first_root && second_hash == second_root;
}

}  // namespace aasm::ledger_format
