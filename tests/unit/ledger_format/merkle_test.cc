#include "aasm/ledger_format/merkle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger_format/pae.h"
#include "aasm/schema/base64.h"

#include "../crypto/vectors.h"
#include "trees.h"

namespace aasm::ledger_format {
namespace {

using schema::JsonValue;
using schema::LeafHash;
using schema::TreeHash;
using test::sample_leaves;

// The eight leaves of Certificate Transparency's reference tree and the root at every size.
constexpr std::array<const char*, 8> kReferenceLeaves = {"",
                                                         "00",
                                                         "10",
                                                         "2021",
                                                         "3031",
                                                         "40414243",
                                                         "5051525354555657",
                                                         "606162636465666768696a6b6c6d6e6f"};
constexpr std::array<const char*, 9> kReferenceRoots = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};

// RFC 6962 section 2.1 word for word: slow, and independent of the compact range.
TreeHash root_by_definition(std::span<const LeafHash> leaves) {
  if (leaves.empty()) {
    return empty_root();
  }
  if (leaves.size() == 1) {
    return as_node(leaves.front());
  }
  std::size_t k = 1;
  while (k * 2 < leaves.size()) {
    k *= 2;
  }
  return node_hash(root_by_definition(leaves.first(k)), root_by_definition(leaves.subspan(k)));
}

TEST(CompactRangeTest, GivesTheRootsOfTheReferenceTree) {
  CompactRange range;
  EXPECT_EQ(range.root().hex(), kReferenceRoots[0]);
  for (std::size_t i = 0; i < kReferenceLeaves.size(); ++i) {
    range.append(leaf_hash(test::unhex(kReferenceLeaves[i])));
    EXPECT_EQ(range.size(), i + 1);
    EXPECT_EQ(range.root().hex(), kReferenceRoots[i + 1]);
  }
}

TEST(CompactRangeTest, GivesTheRootOfTheSpecification) {
  const JsonValue vectors = test::ledger_vectors();
  CompactRange range;
  for (const JsonValue& leaf : *test::at(vectors, {"section11", "leaves"}).as_array()) {
    range.append(LeafHash::from_hex_text(*leaf.as_string()).value());
  }
  EXPECT_EQ(range.root().hex(), "1a2a7ba6af9bfb6804726c6574ffa6968370510361340d4bc6a611af1b007966");
}

TEST(CompactRangeTest, AgreesWithTheDefinitionAtEverySize) {
  const std::vector<LeafHash> leaves = sample_leaves(130);
  CompactRange range;
  for (std::size_t size = 0; size <= leaves.size(); ++size) {
    const std::span<const LeafHash> first = std::span(leaves).first(size);
    EXPECT_EQ(range.root(), root_by_definition(first)) << size;
    EXPECT_EQ(merkle_root(first), range.root()) << size;
    if (size < leaves.size()) {
      range.append(leaves[size]);
    }
  }
}

// Case L49.
TEST(CompactRangeTest, ADuplicatedLastLeafChangesTheRoot) {
  // Trees that pair an odd last node with itself (CVE-2012-2459) give both the same root.
  for (std::size_t size = 1; size <= 64; ++size) {
    std::vector<LeafHash> leaves = sample_leaves(size);
    const TreeHash root = merkle_root(leaves);
    leaves.push_back(leaves.back());
    EXPECT_NE(merkle_root(leaves), root) << size;
  }
}

// Case L49.
TEST(CompactRangeTest, ANodeIsNotALeaf) {
  // Without the prefixes, a tree of two leaves and a tree of their node would share a root.
  const std::vector<LeafHash> leaves = sample_leaves(2);
  schema::Bytes both(leaves[0].bytes.begin(), leaves[0].bytes.end());
  both.insert(both.end(), leaves[1].bytes.begin(), leaves[1].bytes.end());
  EXPECT_NE(as_node(leaf_hash(both)), node_hash(as_node(leaves[0]), as_node(leaves[1])));
}

TEST(CompactRangeTest, AFrontierBringsTheRangeBackAtEverySize) {
  const std::vector<LeafHash> leaves = sample_leaves(100);
  CompactRange range;
  for (const LeafHash& leaf : leaves) {
    const schema::Bytes frontier = range.frontier();
    EXPECT_EQ(frontier.size(), 32U * static_cast<std::size_t>(std::popcount(range.size())));
    CompactRange restored = CompactRange::from_frontier(range.size(), frontier).value();
    EXPECT_EQ(restored, range);
    restored.append(leaf);
    range.append(leaf);
    EXPECT_EQ(restored.root(), range.root());
  }
}

TEST(CompactRangeTest, AFrontierStandsLeftToRight) {
  const std::vector<LeafHash> leaves = sample_leaves(7);
  CompactRange range;
  for (const LeafHash& leaf : leaves) {
    range.append(leaf);
  }
  const std::span<const LeafHash> all(leaves);
  ASSERT_EQ(range.hashes().size(), 3U);
  EXPECT_EQ(range.hashes()[0], root_by_definition(all.first(4)));
  EXPECT_EQ(range.hashes()[1], root_by_definition(all.subspan(4, 2)));
  EXPECT_EQ(range.hashes()[2], as_node(leaves[6]));
}

TEST(CompactRangeTest, AFrontierOfAnotherLengthIsRefused) {
  const schema::Bytes bytes(32 * 65, 7);
  const schema::ByteView view(bytes);
  for (const std::uint64_t size : {0ULL, 1ULL, 2ULL, 3ULL, 255ULL, 256ULL, ~0ULL}) {
    const auto right = 32 * static_cast<std::size_t>(std::popcount(size));
    EXPECT_TRUE(CompactRange::from_frontier(size, view.first(right))) << size;
    EXPECT_FALSE(CompactRange::from_frontier(size, view.first(right + 1))) << size;
    EXPECT_FALSE(CompactRange::from_frontier(size, view.first(right + 32))) << size;
    if (right > 0) {
      EXPECT_FALSE(CompactRange::from_frontier(size, view.first(right - 1))) << size;
      EXPECT_FALSE(CompactRange::from_frontier(size, view.first(right - 32))) << size;
    }
  }
}

// --- Published proof cases: tests/testdata/rfc6962/README.md.

// A hash of another length cannot even be expressed in our types, which is a refusal.
bool read_hash(const JsonValue& value, TreeHash& out) {
  const std::string* text = value.as_string();
  const schema::Bytes bytes = schema::from_base64(text == nullptr ? std::string() : *text).value();
  const schema::Result<TreeHash> hash = TreeHash::from_span(bytes);
  if (hash) {
    out = *hash;
  }
  return hash.has_value();
}

// One good consistency case has the text "don't care" for its roots: zeros make it a hash.
bool read_root(const JsonValue& value, TreeHash& out) {
  schema::Bytes bytes = schema::from_base64(*value.as_string()).value();
  bytes.resize(std::max(bytes.size(), out.bytes.size()));
  const schema::Result<TreeHash> hash = TreeHash::from_span(bytes);
  if (hash) {
    out = *hash;
  }
  return hash.has_value();
}

bool read_path(const JsonValue& value, ProofPath& out) {
  if (value.is_null()) {
    return true;
  }
  for (const JsonValue& entry : *value.as_array()) {
    TreeHash hash;
    if (!read_hash(entry, hash)) {
      return false;
    }
    out.push_back(hash);
  }
  return true;
}

std::uint64_t number_at(const JsonValue& value, std::string_view name) {
  return std::stoull(test::text_at(value, {name}));
}

bool inclusion_case_holds(const JsonValue& row) {
  TreeHash root;
  TreeHash leaf;
  ProofPath path;
  return read_hash(test::at(row, {"root"}), root) && read_hash(test::at(row, {"leafHash"}), leaf) &&
         read_path(test::at(row, {"proof"}), path) &&
         verify_inclusion(LeafHash{leaf.bytes}, number_at(row, "leafIdx"),
                          number_at(row, "treeSize"), path, root);
}

bool consistency_case_holds(const JsonValue& row) {
  TreeHash first;
  TreeHash second;
  ProofPath path;
  return read_root(test::at(row, {"root1"}), first) &&
         read_root(test::at(row, {"root2"}), second) && read_path(test::at(row, {"proof"}), path) &&
         verify_consistency(number_at(row, "size1"), first, number_at(row, "size2"), second, path);
}

TEST(PublishedProofTest, EveryInclusionCaseGetsItsVerdict) {
  const JsonValue file = test::read_vectors("rfc6962/proofs.json");
  const JsonValue::Array& rows = *test::at(file, {"inclusion"}).as_array();
  ASSERT_EQ(rows.size(), 98U);
  for (const JsonValue& row : rows) {
    EXPECT_EQ(inclusion_case_holds(row), !*test::at(row, {"wantErr"}).as_bool())
        << test::text_at(row, {"name"});
  }
}

TEST(PublishedProofTest, EveryConsistencyCaseGetsItsVerdict) {
  const JsonValue file = test::read_vectors("rfc6962/proofs.json");
  const JsonValue::Array& rows = *test::at(file, {"consistency"}).as_array();
  ASSERT_EQ(rows.size(), 98U);
  for (const JsonValue& row : rows) {
    EXPECT_EQ(consistency_case_holds(row), !*test::at(row, {"wantErr"}).as_bool())
        << test::text_at(row, {"name"});
  }
}

}  // namespace
}  // namespace aasm::ledger_format
