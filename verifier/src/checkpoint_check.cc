#include "checkpoint_check.h"

#include <utility>

namespace aasm::verifier {
namespace {

using ledger_format::CompactRange;
using ledger_format::NoteVerdict;
using schema::Result;
using sqlite::ColumnType;

std::int64_t last_seq_of(std::uint64_t size) {
  return static_cast<std::int64_t>(size) - 1;
}

}  // namespace

FindingCode code_for(NoteVerdict verdict, bool after_skipped_key) {
  if (verdict == NoteVerdict::kBadSignature) {
    return FindingCode::kCheckpointBadSignature;
  }
  return after_skipped_key ? FindingCode::kSignerAfterSkippedKey : FindingCode::kCheckpointUnsigned;
}

CheckpointCheck::CheckpointCheck(sqlite::Connection& connection, sqlite::Statement rows,
                                 const ledger_format::TrustPolicy& policy, FindingLog& findings)
    : connection_(connection), rows_(std::move(rows)), policy_(policy), findings_(findings) {}

Result<CheckpointCheck> CheckpointCheck::open(sqlite::Connection& connection,
                                              const ledger_format::TrustPolicy& policy,
                                              FindingLog& findings) {
  CheckpointCheck check(
      connection,
      AASM_TRY(connection.prepare("SELECT size,note,frontier FROM checkpoints ORDER BY size")),
      policy, findings);
  AASM_TRY(check.read_next());
  return check;
}

Result<void> CheckpointCheck::read_next() {
  next_.reset();
  if (!AASM_TRY(rows_.step())) {
    return {};
  }
  Row row;
  row.size = AASM_TRY(rows_.column_int(0));
  if (AASM_TRY(rows_.column_type(1)) != ColumnType::kBlob ||
      AASM_TRY(rows_.column_type(2)) != ColumnType::kBlob) {
    row.malformed = true;
  } else {
    row.note = std::string(schema::as_text(AASM_TRY(rows_.column_blob(1))));
    const schema::ByteView frontier = AASM_TRY(rows_.column_blob(2));
    row.frontier.assign(frontier.begin(), frontier.end());
  }
  next_ = std::move(row);
  return {};
}

void CheckpointCheck::judge_gap(std::uint64_t size) {
  if (size - last_size_ > every_) {
    findings_.add(FindingCode::kCheckpointCadence, last_seq_of(size),
                  {.expected = "a checkpoint at most " + std::to_string(every_) +
                               " records after size " + std::to_string(last_size_),
                   .actual = "size " + std::to_string(size)});
  }
}

void CheckpointCheck::add_missing(std::uint64_t size, const char* why) {
  findings_.add(
      FindingCode::kCheckpointCadence, last_seq_of(size),
      {.expected = "a checkpoint of size " + std::to_string(size) + ", for this record " + why,
       .actual = "none"});
}

void CheckpointCheck::judge(const Row& row, const CompactRange& tree, const KeyPositions& keys) {
  const std::int64_t seq = last_seq_of(tree.size());
  judge_gap(tree.size());
  if (row.frontier != tree.frontier()) {
    findings_.add(
        FindingCode::kCheckpointFrontier, seq,
        {.expected = schema::to_hex(tree.frontier()), .actual = schema::to_hex(row.frontier)});
  }
  Result<ledger_format::SignedCheckpoint> parsed = ledger_format::parse_signed_checkpoint(row.note);
  if (row.malformed || !parsed) {
    findings_.add(FindingCode::kCheckpointMalformed, seq,
                  {.expected = "two blobs, the first a signed checkpoint",
                   .actual = row.malformed ? "another type" : parsed.error().message()});
    return;
  }
  const ledger_format::Checkpoint& said = parsed->checkpoint;
  if (keys.known() && said.origin != keys.origin()) {
    findings_.add(FindingCode::kCheckpointOrigin, seq,
                  {.expected = keys.origin(), .actual = said.origin});
  }
  if (said.size != tree.size()) {
    findings_.add(FindingCode::kCheckpointSizeMismatch, seq,
                  {.expected = std::to_string(tree.size()), .actual = std::to_string(said.size)});
  }
  const schema::TreeHash root = tree.root();
  if (said.root != root) {
    findings_.add(FindingCode::kCheckpointRoot, seq,
                  {.expected = root.hex(), .actual = said.root.hex()});
  }
  Pending pending;
  pending.size = tree.size();
  pending.bytes = row.note;
  pending.log = keys.log();
  pending.after_skipped_key = keys.skipped_key_record();
  pending.note = std::move(parsed->note);
  pending.root_agrees =
      said.root == root && said.size == tree.size() && said.origin == keys.origin();
  pending_.push_back(std::move(pending));
}

Result<void> CheckpointCheck::advance(const CompactRange& tree, const KeyPositions& keys,
                                      Ends ends) {
  if (owed_size_ != 0 && ends != Ends::kChangeOfKeys) {
    add_missing(owed_size_, "changes a key");
  }
  owed_size_ = 0;
  const auto size = static_cast<std::int64_t>(tree.size());
  while (next_ && next_->size < size) {
    // Rows come in order, so only sizes below the first possible one get here.
    findings_.add(FindingCode::kCheckpointMalformed, -1,
                  {.expected = "a size of at least 1", .actual = std::to_string(next_->size)});
    AASM_TRY(read_next());
  }
  if (next_ && next_->size == size) {
    judge(*next_, tree, keys);
    last_size_ = tree.size();
    AASM_TRY(read_next());
  } else if (ends == Ends::kRun) {
    add_missing(tree.size(), "ends a run");
  } else if (ends == Ends::kChangeOfKeys) {
    owed_size_ = tree.size();
  }
  return {};
}

Result<void> CheckpointCheck::finish(std::uint64_t records) {
  while (next_) {
    findings_.add(
        next_->size < 1 ? FindingCode::kCheckpointMalformed : FindingCode::kCheckpointBeyondRecords,
        -1,
        {.expected = std::to_string(next_->size) + " records", .actual = std::to_string(records)});
    AASM_TRY(read_next());
  }
  judge_gap(records);
  if (owed_size_ != 0) {
    add_missing(owed_size_, "changes a key");
  }
  return {};
}

Result<std::optional<std::string>> CheckpointCheck::passed_text(std::uint64_t size) {
  using Found = std::optional<std::string>;
  if (size == 0 || size > last_size_) {
    return Found();
  }
  sqlite::Statement row =
      AASM_TRY(connection_.prepare("SELECT note FROM checkpoints WHERE size=?1"));
  AASM_TRY(row.bind_int(1, static_cast<std::int64_t>(size)));
  if (!AASM_TRY(row.step()) || AASM_TRY(row.column_type(0)) != ColumnType::kBlob) {
    return Found();
  }
  const Result<ledger_format::SignedCheckpoint> parsed =
      ledger_format::parse_signed_checkpoint(schema::as_text(AASM_TRY(row.column_blob(0))));
  if (!parsed) {
    return Found();
  }
  return Found(parsed->note.text);
}

void CheckpointCheck::check_signature(std::size_t index) {
  Pending& pending = pending_[index];
  if (pending.log) {
    pending.verdict = ledger_format::verify_note(pending.note, *pending.log);
  } else {
    pending.unknown_key = true;
  }
  if (policy_.requires_witness()) {
    pending.quorum = ledger_format::check_quorum(policy_, pending.note);
  }
}

// Whether the log key in force signed it.
bool CheckpointCheck::settle_signature(const Pending& pending, KeyPositions& keys) {
  const std::int64_t seq = last_seq_of(pending.size);
  if (pending.unknown_key) {
    findings_.add(FindingCode::kKeyUnresolved, seq, {.detail = "checkpoint"});
    return false;
  }
  if (pending.verdict != NoteVerdict::kVerified) {
    findings_.add(code_for(pending.verdict, pending.after_skipped_key), seq,
                  {.expected = pending.log->text(), .actual = pending.bytes});
    return false;
  }
  keys.judge_revocation(ledger_format::key_id(pending.log->public_key()), pending.size - 1);
  return true;
}

void CheckpointCheck::settle(KeyPositions& keys, Outcome& outcome) {
  for (const Pending& pending : pending_) {
    ++outcome.coverage.checkpoints;
    for (const std::string& name : pending.quorum.bad) {
      findings_.add(FindingCode::kWitnessBadSignature, last_seq_of(pending.size),
                    {.actual = pending.bytes, .detail = "witness " + name});
    }
    if (!settle_signature(pending, keys) || !pending.root_agrees) {
      continue;
    }
    outcome.coverage.signed_up_to = pending.size;
    outcome.newest_note = pending.bytes;
    if (policy_.requires_witness() && pending.quorum.met) {
      outcome.coverage.witnessed_up_to = pending.size;
      keys.note_witnessed(pending.size);
    }
  }
  pending_.clear();
}

}  // namespace aasm::verifier
