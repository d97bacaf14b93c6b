#include "key_session.h"

#include <utility>

#include "append.h"
#include "boot_id.h"
#include "head_file.h"
#include "key_slots.h"

namespace aasm::ledger {

using ledger_format::KeyPurpose;
using ledger_format::VerifierKey;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

KeySession::KeySession(LedgerPaths paths, LedgerDb db, sqlite::Transaction transaction,
                       KeyHistory history, Head head)
    : paths_(std::move(paths)),
      db_(std::move(db)),
      transaction_(std::move(transaction)),
      history_(std::move(history)),
      head_(std::move(head)) {}

Result<KeySession> KeySession::begin(const LedgerPaths& paths) {
  auto block = std::make_unique<SignalBlock>();
  LedgerDb db = AASM_TRY_CONTEXT(LedgerDb::open(paths.ledger), "opening the ledger");
  // Read here, not from the kept list: changes are rare, and this one must start from the truth.
  const KeyHistory before = AASM_TRY(KeyHistory::scan(db));
  const VerifierKey log = AASM_TRY(before.log());
  const auto released = AASM_TRY(read_head_file(paths.heads, log, before.older_logs()));
  sqlite::Transaction transaction = AASM_TRY_CONTEXT(db.begin(), "locking the ledger");
  KeyHistory history = AASM_TRY(KeyHistory::scan(db));
  if (history != before) {
    return Error(ErrorCode::kUnavailable, "a key was changed just now: try again");
  }
  Head head = AASM_TRY(load_head(db, log));
  if (released) {
    AASM_TRY(check_not_behind(db, head, released->checkpoint));
  }
  KeySession session(paths, std::move(db), std::move(transaction), std::move(history),
                     std::move(head));
  session.block_ = std::move(block);
  return session;
}

Result<crypto::SigningKey> KeySession::load(KeyPurpose purpose) const {
  return load_key_in_force(paths_.keys, history_.origin(), history_.in_force(purpose));
}

Result<void> KeySession::stage(KeyPurpose purpose, const crypto::SigningKey& key) {
  AASM_TRY(write_next_key(paths_.keys, history_.origin(), purpose, key));
  staged_.push_back(purpose);
  return {};
}

Result<std::string> KeySession::commit(const KeySet& keys,
                                       const std::vector<PendingRecord>& records) {
  const std::string boot = AASM_TRY(read_boot_id());
  const StoreOptions options;
  if (records.size() > 1 &&
      head_.range.size() + records.size() - head_.checkpoint_size > kCheckpointEvery) {
    // The checkpoint between the two would need the key that goes.
    return Error(ErrorCode::kConflict,
                 "too many records wait for a checkpoint: replace one key "
                 "after the other");
  }
  Appender appender(db_, keys, boot, options, head_, RunStates());
  for (const PendingRecord& record : records) {
    AASM_TRY_CONTEXT(appender.add_key_record(record), "appending " + record.kind);
  }
  if (appender.head().has_tail()) {
    AASM_TRY(appender.add_checkpoint());
  }
  AASM_TRY(KeyHistory::forget(paths_.heads, keys.origin));
  AASM_TRY_CONTEXT(transaction_->commit(), "committing to the ledger");
  for (const KeyPurpose purpose : staged_) {
    AASM_TRY(settle_next_key(paths_.keys, purpose));
  }
  std::vector<VerifierKey> older = history_.older_logs();
  older.push_back(AASM_TRY(history_.log()));
  const VerifierKey log = AASM_TRY(
      VerifierKey::make(keys.origin, ledger_format::NoteKeyType::kEd25519, keys.log.public_key()));
  const Head& head = appender.head();
  AASM_TRY(release_head(paths_.heads, log, head.checkpoint_size, head.note, {}, older));
  return head.note;
}

}  // namespace aasm::ledger
