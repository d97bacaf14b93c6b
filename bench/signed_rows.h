#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/digest.h"

namespace aasm::bench {

// One row as the file holds it, with what was signed and by whom.
struct SignedRow {
  std::int64_t seq = 0;
  schema::PublicKey signer;
  schema::Bytes prev;
  schema::Bytes leaf;
  schema::Bytes payload;
  schema::Bytes key;
  schema::Bytes signature;
  schema::Bytes pae;
};

struct CheckpointRow {
  std::int64_t size = 0;
  schema::Bytes note;
  schema::Bytes frontier;
};

// The first `count` rows of `ledger` that a run key signed.
std::vector<SignedRow> read_rows(const std::string& ledger, std::size_t count);
std::vector<CheckpointRow> read_checkpoints(const std::string& ledger);

}  // namespace aasm::bench
