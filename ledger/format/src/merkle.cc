#include "aasm/ledger_format/merkle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "aasm/crypto/hash.h"

#include "text.h"

namespace aasm::ledger_format {

schema::TreeHash empty_root() {
  return {crypto::sha256({}).bytes};
}

schema::TreeHash node_hash(const schema::TreeHash& left, const schema::TreeHash& right) {
  std::array<std::uint8_t, 65> input{};
  input[0] = 0x01;
  std::copy(left.bytes.begin(), left.bytes.end(), input.begin() + 1);
  std::copy(right.bytes.begin(), right.bytes.end(), input.begin() + 33);
  return {crypto::sha256(input).bytes};
}

schema::Result<CompactRange> CompactRange::from_frontier(std::uint64_t size,
                                                         schema::ByteView frontier) {
  const auto num_hashes = static_cast<std::size_t>(std::popcount(size));
  if (frontier.size() != num_hashes * 32) {
    return detail::malformed("a frontier of size " + std::to_string(size) + " has " +
                             std::to_string(num_hashes) + " hashes, not " +
                             std::to_string(frontier.size()) + " bytes");
  }
  CompactRange range;
  range.size_ = size;
  for (std::size_t i = 0; i < num_hashes; ++i) {
    range.hashes_.push_back(AASM_TRY(schema::TreeHash::from_span(frontier.subspan(i * 32, 32))));
  }
  return range;
}

void CompactRange::append(const schema::LeafHash& leaf) {
  schema::TreeHash node = as_node(leaf);
  // A trailing one bit of the size is a perfect subtree as large as the node so far: merge.
  for (std::uint64_t bits = size_; (bits & 1) != 0; bits >>= 1) {
    node = node_hash(hashes_.back(), node);
    hashes_.pop_back();
  }
  hashes_.push_back(node);
  ++size_;
}

schema::TreeHash CompactRange::root() const {
  if (hashes_.empty()) {
    return empty_root();
  }
  schema::TreeHash node = hashes_.back();
  for (std::size_t i = hashes_.size() - 1; i > 0; --i) {
    node = node_hash(hashes_[i - 1], node);
  }
  return node;
}

schema::Bytes CompactRange::frontier() const {
  schema::Bytes out;
  out.reserve(hashes_.size() * 32);
  for (const schema::TreeHash& hash : hashes_) {
    out.insert(out.end(), hash.bytes.begin(), hash.bytes.end());
  }
  return out;
}

schema::TreeHash merkle_root(std::span<const schema::LeafHash> leaves) {
  CompactRange range;
  for (const schema::LeafHash& leaf : leaves) {
    range.append(leaf);
  }
  return range.root();
}

}  // namespace aasm::ledger_format
