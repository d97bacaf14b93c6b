#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/pending_record.h"
#include "aasm/ledger/store.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

#include "head.h"
#include "ledger_db.h"
#include "run_states.h"

namespace aasm::ledger {

// The record at its place, signed. A pure function of its arguments.
schema::Result<SealedRecord> seal(const PendingRecord& record, const Place& place,
                                  const std::string& origin, const std::string& boot);

// The steps inside one append transaction, which the store begins and commits. Works on its own
// copies of the head and the runs: the store takes them over once the COMMIT succeeded.
class Appender {
 public:
  Appender(LedgerDb& db, const KeySet& keys, const std::string& boot, const StoreOptions& options,
           Head head, RunStates runs);

  // Links, signs and inserts one record, and a checkpoint where the cadence demands one.
  schema::Result<void> add(const PendingRecord& record);
  // The same for a key.* record, whose signer may be the key that goes or the one that comes.
  schema::Result<void> add_key_record(const PendingRecord& record) { return insert(record); }
  schema::Result<void> add(const PendingBlob& blob);
  // Signs a checkpoint over everything so far.
  schema::Result<void> add_checkpoint();

  const Head& head() const { return head_; }
  Head& head() { return head_; }
  RunStates& runs() { return runs_; }
  const std::vector<schema::LeafHash>& leaves() const { return leaves_; }
  bool checkpointed() const { return checkpointed_; }

 private:
  void step(AppendStep step) const;
  schema::Result<void> insert(const PendingRecord& record);

  LedgerDb& db_;
  const KeySet& keys_;
  const std::string& boot_;
  const StoreOptions& options_;
  Head head_;
  RunStates runs_;
  std::vector<schema::LeafHash> leaves_;
  bool checkpointed_ = false;
};

}  // namespace aasm::ledger
