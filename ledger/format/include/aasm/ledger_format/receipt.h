#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/ledger_format/dsse.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/schema/result.h"

// A receipt: c2sp.org/tlog-proof@v1 for a run's last record whose `extra` carries the records that
// give it meaning. docs/spec/ledger-format.md section 7. Pure.
namespace aasm::ledger_format {

inline constexpr std::size_t kReceiptMaxBytes = 4194304;
inline constexpr std::size_t kReceiptMaxRecords = 64;

struct ReceiptRecord {
  DsseEnvelope dsse;
  std::uint64_t index = 0;
  ProofPath path;  // inclusion in the tree of the receipt's checkpoint

  bool operator==(const ReceiptRecord&) const = default;
};

// Nothing in it has been verified: a receipt is bytes from outside. `extra` is not authenticated
// by the proof format; its records become evidence when each signature and path checks.
struct Receipt {
  std::uint64_t index = 0;  // of the entry the proof is for (run.closed)
  ProofPath path;
  std::vector<ReceiptRecord> records;  // from `extra`, indexes strictly ascending
  std::string checkpoint;              // the signed note, verbatim

  bool operator==(const Receipt&) const = default;
};

// kInvalidArgument for an unusable member (no records, order, a checkpoint that is no signed
// checkpoint, no record with the proof's index and path), kResourceExhausted past a limit.
schema::Result<std::string> format_receipt(const Receipt& receipt);

// Strict: `extra` is required and must be canonical JSON, `records` must hold one with the proof's
// own index and path, nothing may follow the note. Then format_receipt(receipt) gives the same
// bytes. kMalformed, or kResourceExhausted past a limit.
schema::Result<Receipt> parse_receipt(std::string_view bytes);

}  // namespace aasm::ledger_format
