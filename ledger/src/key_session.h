#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aasm/ledger/key_change.h"
#include "aasm/ledger/keystore.h"
#include "aasm/ledger/pending_record.h"

#include "head.h"
#include "key_history.h"
#include "ledger_db.h"
#include "signal_block.h"

namespace aasm::ledger {

// The one transaction of a key change. Unlike Store it needs no key that the change takes out of
// force, so that lost ones can be replaced.
class KeySession {
 public:
  // Takes the write lock and checks the ledger against the head file.
  static schema::Result<KeySession> begin(const LedgerPaths& paths);

  const KeyHistory& history() const { return history_; }
  std::uint64_t records() const { return head_.range.size(); }
  LedgerDb& db() { return db_; }
  schema::Result<crypto::SigningKey> load(ledger_format::KeyPurpose purpose) const;

  // Writes new keys beside those in force, before the commit.
  schema::Result<void> stage(ledger_format::KeyPurpose purpose, const crypto::SigningKey& key);
  // Appends `records`, a checkpoint over them by `keys.log`, commits, puts staged keys in place and
  // releases the note, which it returns. Called once.
  schema::Result<std::string> commit(const KeySet& keys, const std::vector<PendingRecord>& records);

 private:
  KeySession(LedgerPaths paths, LedgerDb db, sqlite::Transaction transaction, KeyHistory history,
             Head head);

  LedgerPaths paths_;
  LedgerDb db_;
  std::unique_ptr<SignalBlock> block_;
  std::optional<sqlite::Transaction> transaction_;
  KeyHistory history_;
  Head head_;
  std::vector<ledger_format::KeyPurpose> staged_;
};

}  // namespace aasm::ledger
