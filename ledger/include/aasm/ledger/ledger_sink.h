#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "aasm/ledger/paths.h"
#include "aasm/ledger/store.h"
#include "aasm/schema/evidence_sink.h"

namespace aasm::ledger {

class StoreThread;
class RunLock;
struct RunLockNote;

// The evidence sink that appends to a ledger. One thread of its own owns the Store; every member
// here only queues, and flush() and close_run() wait for it. That thread blocks all signals.
//
// When the disk gets full, failure() and failure_fd() say so while the reserve of the ledger still
// takes records: the run is to end, and its last records and close_run() succeed.
//
// A blob is committed with the first record that names its digest; one that no record names is
// never written. A fresh probe record also leaves a hint for ProbeCache; failing to write the hint
// is no failure.
class LedgerSink : public schema::EvidenceSink {
 public:
  // How long a staged record waits for company while streaming. The rest of the 250 ms that the
  // interface promises is for the commit itself.
  static constexpr std::chrono::milliseconds kStreamingDelay{100};
  // Staged records and blob bytes that may wait; past it the sink fails (kResourceExhausted)
  // rather than grow while a disk hangs.
  static constexpr std::size_t kMaxStagedRecords = 8192;
  static constexpr std::size_t kMaxStagedBlobBytes = std::size_t{64} * 1024 * 1024;

  static schema::Result<std::unique_ptr<LedgerSink>> create(Store store, const LedgerPaths& paths);

  // What opens the Store; it hands the options on to Store::open().
  using Opener = std::function<schema::Result<Store>(StoreOptions)>;
  // Runs `open` on the sink's own thread and returns at once. Until wait_open() has returned
  // success no member but wait_readable() may be called.
  static schema::Result<std::unique_ptr<LedgerSink>> begin(Opener open, const LedgerPaths& paths);
  // Until another connection can read the ledger without waiting for this one, or it is known that
  // `open` failed.
  void wait_readable();
  schema::Result<void> wait_open();

  LedgerSink(const LedgerSink&) = delete;
  LedgerSink& operator=(const LedgerSink&) = delete;
  // Stops the thread. Records that were staged while streaming are committed first; others that
  // no flush() asked for are dropped. The run key is wiped.
  ~LedgerSink() override;

  schema::Result<schema::RunOpened> open_run(const schema::RunId& run,
                                             schema::RunOpened body) override;
  schema::Result<schema::Sha256> stage_blob(std::string bytes) override;
  void submit(schema::RecordBody body) override;
  schema::Result<void> flush() override;
  void start_streaming() override;
  schema::Result<schema::ClosedRun> close_run(schema::RunClosed body) override;
  std::optional<schema::Error> failure() const override;
  int failure_fd() const override;

  // For whoever reads nothing of the ledger behind the run: it is closed as soon as the run is,
  // while the caller takes down what else the run had.
  void close_when_done();

  // Why heads/ was left behind by the last commit, if it was; waits for the attempt, which
  // close_run() does not. Evidence is durable all the same.
  std::optional<schema::Error> head_lag() const;

 private:
  explicit LedgerSink(LedgerPaths paths);

  LedgerPaths paths_;
  std::string checkpoint_at_open_;
  std::unique_ptr<crypto::SigningKey> run_key_;  // outlives the thread that signs with it
  std::unique_ptr<RunLockNote> lock_note_;
  std::unique_ptr<RunLock> lock_;
  std::unique_ptr<StoreThread> thread_;
  schema::RunId run_;
};

}  // namespace aasm::ledger
