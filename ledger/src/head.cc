#include "head.h"

#include <utility>

namespace aasm::ledger {
namespace {

using ledger_format::Checkpoint;
using ledger_format::CompactRange;
using ledger_format::VerifierKey;
using schema::Error;
using schema::ErrorCode;
using schema::LeafHash;
using schema::Result;

Error integrity(const std::string& what) {
  return {ErrorCode::kIntegrity, what};
}

Result<ledger_format::SignedCheckpoint> parsed_checkpoint(const CheckpointRow& row) {
  Result<ledger_format::SignedCheckpoint> parsed = ledger_format::parse_signed_checkpoint(row.note);
  if (!parsed) {
    return integrity("the newest checkpoint is no signed note");
  }
  return parsed;
}

// The checkpoint of a row whose note is signed by `log`, of this origin and this size.
Result<Checkpoint> verified_checkpoint(const CheckpointRow& row, const VerifierKey& log,
                                       std::string_view verified) {
  ledger_format::SignedCheckpoint parsed = AASM_TRY(parsed_checkpoint(row));
  if (!is_signed_by(log, parsed.note, row.note, verified)) {
    return integrity("the newest checkpoint is not signed by the log key");
  }
  if (parsed.checkpoint.origin != log.name() || parsed.checkpoint.size != row.size) {
    return integrity("the newest checkpoint is of another ledger or size");
  }
  return std::move(parsed.checkpoint);
}

Result<CheckpointRow> newest_row(LedgerDb& db) {
  std::optional<CheckpointRow> row = AASM_TRY(db.newest_checkpoint());
  if (!row || row->size == 0) {
    return integrity("the ledger has no checkpoint");
  }
  return std::move(*row);
}

// The leaf of a row, column and payload agreeing.
Result<LeafHash> leaf_of(const RecordRow& row) {
  const LeafHash leaf = row.recomputed_leaf();
  if (leaf != row.leaf) {
    return integrity("record " + std::to_string(row.seq) + " does not hash to its leaf");
  }
  return leaf;
}

Result<void> append_row(const RecordRow& row, Head& head) {
  const std::string name = "record " + std::to_string(row.seq);
  if (row.seq != head.range.size()) {
    return integrity(name + " follows a gap");
  }
  if (row.prev != head.last_leaf) {
    return integrity(name + " is not linked to the one before");
  }
  const LeafHash leaf = AASM_TRY(leaf_of(row));
  head.range.append(leaf);
  head.last_leaf = leaf;
  return {};
}

// Reads the last row that `head` knows, shows it to `last`, then appends every row after it, each
// shown to `visit`, and compares roots where the newest checkpoint stands. One query for all.
Result<void> read_rows(LedgerDb& db, const CheckpointRow& newest,
                       const std::optional<Checkpoint>& unchecked, Head& head,
                       const std::function<Result<void>(const LeafHash&)>& last,
                       const RowVisitor& visit) {
  bool checked = !unchecked;
  bool found_last = false;
  const std::uint64_t last_seq = head.range.size() - 1;
  const auto take = [&](const RecordRow& row) -> Result<void> {
    if (row.seq == last_seq) {
      found_last = true;
      return last(AASM_TRY(leaf_of(row)));
    }
    if (!found_last) {
      return {};  // a gap: said below
    }
    AASM_TRY(append_row(row, head));
    AASM_TRY(visit(row));
    if (unchecked && head.range.size() == unchecked->size) {
      if (head.range.root() != unchecked->root) {
        return integrity("the newest checkpoint is not over these records");
      }
      checked = true;
    }
    return {};
  };
  AASM_TRY(db.visit_records(last_seq, take));
  if (!found_last) {
    return integrity("record " + std::to_string(last_seq) + " is missing");
  }
  if (!checked) {
    return integrity("the newest checkpoint is ahead of the records");
  }
  // Of a size that is known the note that was verified stays: the row may have changed since.
  if (head.checkpoint_size != newest.size) {
    head.checkpoint_size = newest.size;
    head.note = newest.note;
  }
  return {};
}

}  // namespace

bool is_signed_by(const VerifierKey& log, const ledger_format::Note& note, std::string_view bytes,
                  std::string_view verified) {
  return (!verified.empty() && bytes == verified) ||
         ledger_format::verify_note(note, log) == ledger_format::NoteVerdict::kVerified;
}

Result<Head> load_head(LedgerDb& db, const VerifierKey& log, std::string_view verified) {
  const CheckpointRow row = AASM_TRY(newest_row(db));
  const Checkpoint checkpoint = AASM_TRY(verified_checkpoint(row, log, verified));
  Result<CompactRange> range = CompactRange::from_frontier(row.size, row.frontier);
  if (!range || range->root() != checkpoint.root) {
    return integrity("the newest frontier is not that of its checkpoint");
  }
  Head head;
  head.range = std::move(*range);
  std::uint64_t tail = 0;
  const auto take_last = [&head](const LeafHash& leaf) -> Result<void> {
    head.last_leaf = leaf;
    return {};
  };
  const auto count = [&tail](const RecordRow&) -> Result<void> {
    ++tail;
    return tail <= kCheckpointEvery
               ? Result<void>()
               : integrity("more records than the newest checkpoint may leave uncovered");
  };
  AASM_TRY(read_rows(db, row, std::nullopt, head, take_last, count));
  return head;
}

Result<void> refresh_head(LedgerDb& db, const LogInForce& log_in_force, Head& head,
                          const RowVisitor& visit) {
  const CheckpointRow row = AASM_TRY(newest_row(db));
  const auto rolled_back = [] {
    return integrity("the ledger was rolled back under this process");
  };
  if (row.size < head.checkpoint_size) {
    return rolled_back();
  }
  Head next = head;
  std::optional<Checkpoint> unchecked;
  if (row.size != head.checkpoint_size) {
    unchecked = AASM_TRY(parsed_checkpoint(row)).checkpoint;
    if (row.size == head.range.size() && unchecked->root == head.range.root()) {
      unchecked.reset();
    }
  }
  const auto same_last = [&](const LeafHash& leaf) -> Result<void> {
    return leaf == head.last_leaf ? Result<void>() : rolled_back();
  };
  AASM_TRY(read_rows(db, row, unchecked, next, same_last, visit));
  // Only now, for a row just read may have brought the key that signs the checkpoint.
  const VerifierKey* log = AASM_TRY(log_in_force());
  if (row.size != head.checkpoint_size) {
    AASM_TRY(verified_checkpoint(row, *log, {}));
  }
  head = std::move(next);
  return {};
}

Result<void> check_not_behind(LedgerDb& db, const Head& head, const Checkpoint& released) {
  if (released.size > head.range.size()) {
    return integrity("the ledger holds " + std::to_string(head.range.size()) + " records but " +
                     std::to_string(released.size) + " were released: it was rolled back");
  }
  // A released note was committed with its checkpoint row.
  const std::optional<CheckpointRow> row = AASM_TRY(db.checkpoint_of_size(released.size));
  const Result<ledger_format::SignedCheckpoint> stored =
      row ? ledger_format::parse_signed_checkpoint(row->note)
          : Result<ledger_format::SignedCheckpoint>(integrity("no such checkpoint"));
  if (!stored || stored->checkpoint != released) {
    return integrity("the ledger does not hold the checkpoint of size " +
                     std::to_string(released.size) + " that was released");
  }
  return {};
}

}  // namespace aasm::ledger
