#include "aasm/ledger/run_receipt.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "aasm/ledger_format/merkle_proof.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/receipt.h"

namespace aasm::ledger {
namespace {

using ledger_format::Receipt;
using ledger_format::ReceiptRecord;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Frontiers of stored checkpoints spare reading the leaves they cover: a proof then costs
// O(log^2 n) rows. Whether they are right shows in the root.
ledger_format::LeafSource source_of(LedgerReader& reader) {
  return {
      .leaf = [&reader](std::uint64_t index) -> Result<schema::LeafHash> {
        return AASM_TRY(reader.leaves(index, index + 1)).front();
      },
      .subtree = [&reader](std::uint64_t begin,
                           std::uint64_t end) -> std::optional<schema::TreeHash> {
        Result<std::optional<schema::TreeHash>> hash = reader.subtree(begin, end);
        return hash ? *hash : std::nullopt;
      },
  };
}

Result<ReceiptRecord> receipt_record(LedgerReader& reader, std::uint64_t seq,
                                     ledger_format::ProofPath path) {
  StoredRecord record = AASM_TRY(reader.record(seq));
  ledger_format::DsseEnvelope dsse{std::move(record.payload), record.key, record.signature};
  return ReceiptRecord{std::move(dsse), seq, std::move(path)};
}

}  // namespace

Result<std::string> build_run_receipt(LedgerReader& reader, const schema::RunId& run) {
  const RunSummary summary = AASM_TRY(reader.run(run));
  if (!summary.end_seq || summary.recovered) {
    return Error(ErrorCode::kUnavailable, "the run is not closed");
  }
  const std::optional<StoredCheckpoint> stored =
      AASM_TRY(reader.checkpoint_covering(*summary.end_seq + 1));
  if (!stored) {
    return Error(ErrorCode::kIntegrity, "no checkpoint covers run.closed");
  }
  const auto signed_note = AASM_TRY(ledger_format::parse_signed_checkpoint(stored->note));
  const ledger_format::Checkpoint& checkpoint = signed_note.checkpoint;
  std::vector<std::uint64_t> indexes = AASM_TRY(reader.key_records(checkpoint.size));
  indexes.insert(indexes.end(), {0, summary.opened_seq, *summary.end_seq});
  std::sort(indexes.begin(), indexes.end());
  ledger_format::InclusionProofs proofs =
      AASM_TRY(ledger_format::make_inclusion_proofs(indexes, checkpoint.size, source_of(reader)));
  if (proofs.root != checkpoint.root) {
    return Error(ErrorCode::kIntegrity, "the ledger's leaves do not give its checkpoint's root");
  }
  Receipt receipt;
  receipt.index = *summary.end_seq;
  const auto own = std::find(indexes.begin(), indexes.end(), receipt.index);
  receipt.path = proofs.paths.at(static_cast<std::size_t>(own - indexes.begin()));
  receipt.checkpoint = stored->note;
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    receipt.records.push_back(
        AASM_TRY(receipt_record(reader, indexes[i], std::move(proofs.paths[i]))));
  }
  return ledger_format::format_receipt(receipt);
}

}  // namespace aasm::ledger
