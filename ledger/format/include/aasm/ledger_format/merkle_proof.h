#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "aasm/ledger_format/merkle.h"

// Making proofs (RFC 6962 sections 2.1.1 and 2.1.2). merkle.h checks them.
namespace aasm::ledger_format {

// Where a proof's hashes come from.
struct LeafSource {
  // The leaf hash of record `index`. Asked in ascending order, each index at most once.
  std::function<schema::Result<schema::LeafHash>(std::uint64_t index)> leaf;
  // Optional. The hash of the perfect subtree over records [begin, end) when it is known already
  // (stored frontiers have many), else nullopt; spares the caller reading those leaves.
  std::function<std::optional<schema::TreeHash>(std::uint64_t begin, std::uint64_t end)> subtree;
};

// A source over leaves in memory. `leaves` must outlive it.
LeafSource leaf_source(std::span<const schema::LeafHash> leaves);

struct InclusionProofs {
  std::vector<ProofPath> paths;  // one for each index asked, in the order asked
  schema::TreeHash root;         // of the tree of that size: compare it with the checkpoint
};

// Proofs for several records of the tree of `size` leaves in one pass over the source.
// kInvalidArgument when an index is not below size; the source's errors pass through.
schema::Result<InclusionProofs> make_inclusion_proofs(std::span<const std::uint64_t> indexes,
                                                      std::uint64_t size, const LeafSource& source);

// The proof that the tree of `first` leaves is a prefix of that of `second`; empty when they are
// equal. kInvalidArgument unless 0 < first <= second.
schema::Result<ProofPath> make_consistency_proof(std::uint64_t first, std::uint64_t second,
                                                 const LeafSource& source);

}  // namespace aasm::ledger_format
