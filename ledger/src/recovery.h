#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

#include "append.h"
#include "ledger_db.h"
#include "run_lock.h"

namespace aasm::ledger {

// Ends the runs whose supervisor is gone with `run.recovered` (docs/spec/ledger-format.md rule
// 4.6). Gone is a supervisor whose lock file nobody holds; and, for a run of an earlier boot, one
// whose lock file is not there, for a power cut may have taken it. A run of this boot without a
// lock file is let be: nothing shows that its supervisor is gone. Process ids play no part.
//
// Usage: prepare() before the transaction, append() inside, finish() after COMMIT. The locks are
// held from prepare() to finish(), so that a run is recovered once and never while it is live.
class Recovery {
 public:
  static schema::Result<Recovery> prepare(const std::string& runs, const std::string& origin,
                                          const std::string& boot);

  // Does nothing when there is nothing to recover. Otherwise each run.recovered brings its
  // checkpoint.
  schema::Result<void> append(LedgerDb& db, const crypto::SigningKey& host, Appender& appender);

  // Removes the lock files of runs that have ended. Best effort: what stays is found again.
  void finish();

 private:
  struct OpenRun {
    std::uint64_t opened_seq = 0;
    std::string boot;
    schema::PublicKey key;
  };
  using OpenRuns = std::map<schema::RunId, OpenRun>;

  std::uint64_t search_start(std::uint64_t records) const;
  static schema::Result<OpenRuns> find_open(LedgerDb& db, std::uint64_t from);
  schema::Result<bool> hold(const schema::RunId& run, const OpenRun& open);
  static schema::Result<void> recover(LedgerDb& db, const schema::RunId& run, const OpenRun& open,
                                      const crypto::SigningKey& host, Appender& appender);

  std::string path_;
  std::string origin_;
  std::string boot_;
  std::optional<RunsDirectory> directory_;
  std::vector<StaleLock> stale_;    // of this ledger, or empty
  std::vector<RunLock> new_locks_;  // for runs whose lock file was gone
  bool sweep_ = false;              // the first writer since this boot
  std::uint64_t swept_ = 0;         // where the next boot's search may begin
};

}  // namespace aasm::ledger
