#include "verified_tree.h"

#include <string>

#include "aasm/ledger_format/merkle.h"

namespace aasm::cli {

using schema::Error;
using schema::ErrorCode;

schema::Result<void> check_read(const VerifiedTree& tree, std::span<const schema::LeafHash> leaves,
                                const std::vector<ReadRecord>& read) {
  if (leaves.size() != tree.size || ledger_format::merkle_root(leaves) != tree.root) {
    return Error(ErrorCode::kConflict, "the ledger was changed after it was verified");
  }
  for (const auto& [number, leaf] : read) {
    if (number >= tree.size) {
      return Error(ErrorCode::kConflict, "record " + std::to_string(number) +
                                             " is in no checkpoint yet: the run is not over");
    }
    if (leaves[number] != leaf) {
      return Error(ErrorCode::kConflict, "record " + std::to_string(number) +
                                             " was changed after the ledger was verified");
    }
  }
  return {};
}

}  // namespace aasm::cli
