#include "aasm/ledger_format/merkle_proof.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "text.h"

namespace aasm::ledger_format {
namespace {

struct Target {
  std::uint64_t index;
  ProofPath path;
};

// Where a tree of `size` > 1 leaves splits: the largest power of two below size (RFC 6962 k).
std::uint64_t split_point(std::uint64_t size) {
  return std::bit_floor(size - 1);
}

schema::Result<schema::TreeHash> read_leaf(const LeafSource& source, std::uint64_t index) {
  return as_node(AASM_TRY(source.leaf(index)));
}

std::optional<schema::TreeHash> known_subtree(const LeafSource& source, std::uint64_t begin,
                                              std::uint64_t end) {
  if (!source.subtree || end - begin < 2 || !std::has_single_bit(end - begin)) {
    return std::nullopt;
  }
  return source.subtree(begin, end);
}

// The hash over [begin, end), begin < end. `targets` are those inside it; each gets the sibling
// hashes of its way up, which arrive leaf first because the children are done before the parent.
// Depth is at most 64.
schema::Result<schema::TreeHash> hash_range(const LeafSource& source, std::uint64_t begin,
                                            std::uint64_t end, std::span<Target> targets) {
  if (targets.empty()) {
    if (const std::optional<schema::TreeHash> known = known_subtree(source, begin, end)) {
      return *known;
    }
  }
  if (end - begin == 1) {
    return read_leaf(source, begin);
  }
  const std::uint64_t middle = begin + split_point(end - begin);
  const auto first_right =
      std::find_if(targets.begin(), targets.end(),
                   [middle](const Target& target) { return target.index >= middle; });
  const auto num_left = static_cast<std::size_t>(first_right - targets.begin());
  const std::span<Target> left_targets = targets.first(num_left);
  const std::span<Target> right_targets = targets.subspan(num_left);
  const schema::TreeHash left = AASM_TRY(hash_range(source, begin, middle, left_targets));
  const schema::TreeHash right = AASM_TRY(hash_range(source, middle, end, right_targets));
  for (Target& target : left_targets) {
    target.path.push_back(right);
  }
  for (Target& target : right_targets) {
    target.path.push_back(left);
  }
  return node_hash(left, right);
}

}  // namespace

LeafSource leaf_source(std::span<const schema::LeafHash> leaves) {
  LeafSource source;
  source.leaf = [leaves](std::uint64_t index) -> schema::Result<schema::LeafHash> {
    if (index >= leaves.size()) {
      return detail::invalid("no leaf " + std::to_string(index));
    }
    return leaves[index];
  };
  return source;
}

schema::Result<InclusionProofs> make_inclusion_proofs(std::span<const std::uint64_t> indexes,
                                                      std::uint64_t size,
                                                      const LeafSource& source) {
  std::vector<Target> targets;
  for (const std::uint64_t index : indexes) {
    if (index >= size) {
      return detail::invalid("record " + std::to_string(index) + " is not in a tree of size " +
                             std::to_string(size));
    }
    targets.push_back({index, {}});
  }
  InclusionProofs proofs;
  if (size == 0) {
    proofs.root = empty_root();
    return proofs;
  }
  std::sort(targets.begin(), targets.end(),
            [](const Target& left, const Target& right) { return left.index < right.index; });
  proofs.root = AASM_TRY(hash_range(source, 0, size, targets));
  for (const std::uint64_t index : indexes) {
    const auto target = std::find_if(targets.begin(), targets.end(),
                                     [index](const Target& t) { return t.index == index; });
    proofs.paths.push_back(target->path);
  }
  return proofs;
}

schema::Result<ProofPath> make_consistency_proof(std::uint64_t first, std::uint64_t second,
                                                 const LeafSource& source) {
  if (first == 0 || first > second) {
    return detail::invalid("no consistency proof from size " + std::to_string(first) + " to " +
                           std::to_string(second));
  }
  // RFC 6962 SUBPROOF walks down from the root to the subtree that ends the first tree. Going left
  // leaves the right part as a sibling; going right leaves the left one.
  struct Part {
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::vector<Part> parts;
  Part node{0, second};
  while (node.end != first) {
    const std::uint64_t middle = node.begin + split_point(node.end - node.begin);
    if (first <= middle) {
      parts.push_back({middle, node.end});
      node.end = middle;
    } else {
      parts.push_back({node.begin, middle});
      node.begin = middle;
    }
  }
  if (node.begin != 0) {
    parts.push_back(node);  // else it is the first tree itself, whose root the verifier has
  }
  std::vector<std::pair<Part, std::size_t>> ordered;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ordered.emplace_back(parts[i], parts.size() - 1 - i);
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto& left, const auto& right) {
    return left.first.begin < right.first.begin;
  });
  ProofPath path(parts.size());
  for (const auto& [part, position] : ordered) {
    path[position] = AASM_TRY(hash_range(source, part.begin, part.end, {}));
  }
  return path;
}

}  // namespace aasm::ledger_format
