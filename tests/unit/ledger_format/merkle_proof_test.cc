#include "aasm/ledger_format/merkle_proof.h"

#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trees.h"

namespace aasm::ledger_format {
namespace {

using schema::LeafHash;
using schema::TreeHash;
using test::sample_leaves;

constexpr std::uint64_t kMaxSize = 64;

TreeHash root_at(const std::vector<LeafHash>& leaves, std::uint64_t size) {
  return merkle_root(std::span(leaves).first(static_cast<std::size_t>(size)));
}

void flip_a_bit(TreeHash& hash, std::size_t salt) {
  hash.bytes[salt % 32] = static_cast<std::uint8_t>(hash.bytes[salt % 32] ^ (1U << salt % 8));
}

// Every path that differs from `path` by one change: one bit of one hash, one hash gone, one hash
// doubled, one put in front or behind, two neighbours swapped.
std::vector<ProofPath> mutations(const ProofPath& path) {
  std::vector<ProofPath> out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    out.push_back(path);
    flip_a_bit(out.back()[i], i * 7 + path.size());
    out.push_back(path);
    out.back().erase(out.back().begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back(path);
    out.back().insert(out.back().begin() + static_cast<std::ptrdiff_t>(i), path[i]);
    if (i + 1 < path.size()) {
      out.push_back(path);
      std::swap(out.back()[i], out.back()[i + 1]);
    }
  }
  out.push_back(path);
  out.back().push_back(TreeHash{});
  out.push_back(path);
  out.back().insert(out.back().begin(), TreeHash{});
  return out;
}

TEST(InclusionTest, EveryRecordOfEverySizeIsProvenAndEveryMutationRefused) {
  const std::vector<LeafHash> leaves = sample_leaves(kMaxSize);
  for (std::uint64_t size = 1; size <= kMaxSize; ++size) {
    std::vector<std::uint64_t> indexes(static_cast<std::size_t>(size));
    std::iota(indexes.begin(), indexes.end(), 0U);
    const InclusionProofs proofs =
        make_inclusion_proofs(indexes, size, leaf_source(leaves)).value();
    ASSERT_EQ(proofs.root, root_at(leaves, size));
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      const ProofPath& path = proofs.paths[i];
      ASSERT_TRUE(verify_inclusion(leaves[i], i, size, path, proofs.root)) << i << " of " << size;
      for (const ProofPath& wrong : mutations(path)) {
        ASSERT_FALSE(verify_inclusion(leaves[i], i, size, wrong, proofs.root))
            << i << " of " << size;
      }
      ASSERT_FALSE(verify_inclusion(leaves[(i + 1) % kMaxSize], i, size, path, proofs.root));
      ASSERT_FALSE(verify_inclusion(leaves[i], i, size, path, TreeHash{}));
    }
  }
}

TEST(InclusionTest, AProofHoldsForNoOtherIndex) {
  const std::vector<LeafHash> leaves = sample_leaves(kMaxSize);
  for (std::uint64_t size = 1; size <= kMaxSize; ++size) {
    const std::uint64_t index = size / 2;
    const std::vector<std::uint64_t> indexes = {index};
    const InclusionProofs proofs =
        make_inclusion_proofs(indexes, size, leaf_source(leaves)).value();
    for (std::uint64_t other = 0; other <= size + 1; ++other) {
      EXPECT_EQ(verify_inclusion(leaves[static_cast<std::size_t>(index)], other, size,
                                 proofs.paths[0], proofs.root),
                other == index)
          << other << " of " << size;
    }
  }
}

TEST(InclusionTest, NothingIsInAnEmptyTree) {
  EXPECT_FALSE(verify_inclusion({}, 0, 0, {}, empty_root()));
  EXPECT_TRUE(make_inclusion_proofs({}, 0, leaf_source({})));
  const std::vector<std::uint64_t> first = {0};
  EXPECT_FALSE(make_inclusion_proofs(first, 0, leaf_source({})));
}

TEST(InclusionTest, APathLongerThanTheTreeIsHighIsRefusedEvenWhenItLeadsToTheRoot) {
  // A log that signs the root of a taller tree under a smaller size.
  const std::vector<LeafHash> leaves = sample_leaves(2);
  const TreeHash root = merkle_root(leaves);
  const ProofPath path = {as_node(leaves[0])};
  ASSERT_TRUE(verify_inclusion(leaves[1], 1, 2, path, root));
  EXPECT_FALSE(verify_inclusion(leaves[1], 0, 1, path, root));
}

TEST(InclusionTest, SizesNearTheLimitDoNotOverflow) {
  const ProofPath path(64);
  EXPECT_FALSE(verify_inclusion({}, ~0ULL - 1, ~0ULL, path, {}));
  EXPECT_FALSE(verify_inclusion({}, 0, ~0ULL, path, {}));
  EXPECT_FALSE(verify_inclusion({}, ~0ULL, ~0ULL, path, {}));
}

TEST(InclusionTest, ProofsComeInTheOrderAskedAndMayRepeat) {
  const std::vector<LeafHash> leaves = sample_leaves(11);
  const std::vector<std::uint64_t> indexes = {9, 0, 10, 0};
  const InclusionProofs proofs = make_inclusion_proofs(indexes, 11, leaf_source(leaves)).value();
  ASSERT_EQ(proofs.paths.size(), 4U);
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    EXPECT_TRUE(verify_inclusion(leaves[static_cast<std::size_t>(indexes[i])], indexes[i], 11,
                                 proofs.paths[i], proofs.root));
  }
}

TEST(InclusionTest, EachLeafIsAskedOnceAndInOrder) {
  const std::vector<LeafHash> leaves = sample_leaves(37);
  std::vector<std::uint64_t> asked;
  LeafSource source = leaf_source(leaves);
  const auto inner = source.leaf;
  source.leaf = [&](std::uint64_t index) {
    asked.push_back(index);
    return inner(index);
  };
  const std::vector<std::uint64_t> indexes = {3, 36};
  ASSERT_TRUE(make_inclusion_proofs(indexes, 37, source));
  std::vector<std::uint64_t> expected(37);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(asked, expected);
}

TEST(InclusionTest, KnownSubtreesSpareTheirLeavesAndChangeNothing) {
  const std::vector<LeafHash> leaves = sample_leaves(50);
  const std::vector<std::uint64_t> indexes = {0, 49};
  const InclusionProofs plain = make_inclusion_proofs(indexes, 50, leaf_source(leaves)).value();
  LeafSource source = leaf_source(leaves);
  std::size_t num_asked = 0;
  const auto inner = source.leaf;
  source.leaf = [&](std::uint64_t index) {
    ++num_asked;
    return inner(index);
  };
  source.subtree = [&](std::uint64_t begin, std::uint64_t end) -> std::optional<TreeHash> {
    EXPECT_TRUE(std::has_single_bit(end - begin) && begin % (end - begin) == 0);
    return merkle_root(std::span(leaves).subspan(static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(end - begin)));
  };
  const InclusionProofs quick = make_inclusion_proofs(indexes, 50, source).value();
  EXPECT_EQ(quick.paths, plain.paths);
  EXPECT_EQ(quick.root, plain.root);
  EXPECT_LE(num_asked, 4U);  // the two records and their siblings
}

TEST(InclusionTest, AnErrorOfTheSourcePassesThrough) {
  LeafSource source;
  source.leaf = [](std::uint64_t index) -> schema::Result<LeafHash> {
    if (index == 5) {
      return schema::Error(schema::ErrorCode::kUnavailable, "busy");
    }
    return LeafHash{};
  };
  const std::vector<std::uint64_t> indexes = {0};
  const auto proofs = make_inclusion_proofs(indexes, 8, source);
  ASSERT_FALSE(proofs);
  EXPECT_EQ(proofs.error().code(), schema::ErrorCode::kUnavailable);
}

// Case L50.
TEST(ConsistencyTest, EveryPairOfSizesIsProvenAndEveryMutationRefused) {
  const std::vector<LeafHash> leaves = sample_leaves(kMaxSize);
  std::vector<TreeHash> roots;
  for (std::uint64_t size = 0; size <= kMaxSize; ++size) {
    roots.push_back(root_at(leaves, size));
  }
  for (std::uint64_t n = 1; n <= kMaxSize; ++n) {
    for (std::uint64_t m = 1; m <= n; ++m) {
      const TreeHash& first = roots[static_cast<std::size_t>(m)];
      const TreeHash& second = roots[static_cast<std::size_t>(n)];
      const ProofPath path = make_consistency_proof(m, n, leaf_source(leaves)).value();
      ASSERT_TRUE(verify_consistency(m, first, n, second, path)) << m << " to " << n;
      for (const ProofPath& wrong : mutations(path)) {
        ASSERT_FALSE(verify_consistency(m, first, n, second, wrong)) << m << " to " << n;
      }
      ASSERT_FALSE(verify_consistency(m, TreeHash{}, n, second, path)) << m << " to " << n;
      ASSERT_FALSE(verify_consistency(m, first, n, TreeHash{}, path)) << m << " to " << n;
      if (m != n) {
        ASSERT_FALSE(verify_consistency(n, second, m, first, path)) << n << " to " << m;
        ASSERT_FALSE(verify_consistency(m, second, n, first, path)) << "roots swapped";
      }
    }
  }
}

TEST(ConsistencyTest, ARewrittenPrefixIsNotConsistent) {
  const std::vector<LeafHash> leaves = sample_leaves(kMaxSize);
  std::vector<LeafHash> rewritten = leaves;
  rewritten[3].bytes[0] ^= 1;
  for (std::uint64_t n = 5; n <= kMaxSize; ++n) {
    for (std::uint64_t m = 4; m < n; ++m) {
      const ProofPath path = make_consistency_proof(m, n, leaf_source(rewritten)).value();
      EXPECT_FALSE(verify_consistency(m, root_at(leaves, m), n, root_at(rewritten, n), path))
          << m << " to " << n;
    }
  }
}

TEST(ConsistencyTest, NothingIsProvenFromSizeZero) {
  const std::vector<LeafHash> leaves = sample_leaves(5);
  const TreeHash root = root_at(leaves, 5);
  EXPECT_FALSE(verify_consistency(0, empty_root(), 5, root, {}));
  EXPECT_FALSE(verify_consistency(0, empty_root(), 0, empty_root(), {}));
  EXPECT_FALSE(make_consistency_proof(0, 5, leaf_source(leaves)));
}

TEST(ConsistencyTest, AnEmptyProofIsForEqualTreesOnly) {
  const std::vector<LeafHash> leaves = sample_leaves(8);
  const TreeHash root = root_at(leaves, 8);
  EXPECT_TRUE(verify_consistency(8, root, 8, root, {}));
  EXPECT_FALSE(verify_consistency(8, root, 8, root_at(leaves, 7), {}));
  EXPECT_FALSE(verify_consistency(4, root_at(leaves, 4), 8, root, {}));
  // Even when the roots are equal: two sizes cannot share one.
  EXPECT_FALSE(verify_consistency(4, root, 8, root, {}));
  EXPECT_FALSE(make_consistency_proof(9, 8, leaf_source(leaves)));
}

TEST(ConsistencyTest, APathLongerThanTheTreeIsHighIsRefusedEvenWhenItLeadsToTheRoots) {
  const std::vector<LeafHash> leaves = sample_leaves(4);
  ProofPath path = make_consistency_proof(3, 4, leaf_source(leaves)).value();
  const TreeHash extra{};
  path.push_back(extra);
  EXPECT_FALSE(verify_consistency(3, node_hash(extra, root_at(leaves, 3)), 4,
                                  node_hash(extra, root_at(leaves, 4)), path));
}

TEST(ConsistencyTest, SizesNearTheLimitDoNotOverflow) {
  const ProofPath path(64);
  EXPECT_FALSE(verify_consistency(1, {}, ~0ULL, {}, path));
  EXPECT_FALSE(verify_consistency(~0ULL - 1, {}, ~0ULL, {}, path));
  EXPECT_FALSE(verify_consistency(1ULL << 63, {}, ~0ULL, {}, path));
}

}  // namespace
}  // namespace aasm::ledger_format
