#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/paths.h"
#include "aasm/ledger/pending_record.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

namespace aasm::ledger {

// Where an append stands. Tests stop the process at these points.
enum class AppendStep : std::uint8_t {
  kBegun,           // the write lock is held
  kHeadRead,        // the head is known; nothing written
  kRecordInserted,  // after each record
  kCheckpointInserted,
  kBeforeCommit,
  kCommitted,  // durable; the head file lags
  kHeadReleased,
};

struct StoreOptions {
  std::function<void(AppendStep)> on_step = {};  // empty outside tests
  // Called by open() when the WAL has been read back, the locks of which another connection would
  // wait for a millisecond at a time.
  std::function<void()> on_readable = {};
};

struct Appended {
  std::uint64_t first_seq = 0;
  std::vector<schema::LeafHash> leaves;  // one for each record, from first_seq on
  std::string checkpoint;                // the newest released note, of checkpoint_size
  std::uint64_t checkpoint_size = 0;
  // Why the head file was left behind, if it was. The records are durable all the same.
  std::optional<schema::Error> head_lag;
  // The disk was full and the reserve was given up for this append: the run must come to its end.
  bool reserve_used = false;
};

// A ledger opened for appending (docs/spec/ledger-format.md section 4). Owned by one thread at a
// time. Any number of stores, in this and other processes, append to one file at once: each append
// takes the write lock (waiting at most 5 s: kUnavailable) and reads the head anew.
//
// While a transaction is open the calling thread blocks SIGTSTP, SIGTTIN and SIGTTOU. A stop signal
// sent to the process can still reach another thread, so a threaded program keeps them blocked in
// all its threads and handles them where no append is running.
//
// kIntegrity means that the file is not what this program and the head file left: rolled back,
// damaged, or of other keys. Nothing has been written then.
class Store {
 public:
  // Makes the ledger file with record 0 and a checkpoint over it: written under a temporary name,
  // then put in place, so a file under the final name is whole. kConflict when one stands there
  // (or the -wal file of one);
  // kIntegrity when the head file knows this origin already, because a second tree under one
  // origin would contradict the first.
  static schema::Result<void> create(const LedgerPaths& paths, const RootKey& root,
                                     const KeySet& keys, const std::string& aasm_version,
                                     const StoreOptions& options = {});

  // Reads the head file, then the ledger. Costs the same for any number of records. A tail that no
  // checkpoint covers gets one here, and each run whose supervisor is gone its run.recovered, in
  // one transaction. (The first opening after a boot reads the records since the last such look.)
  static schema::Result<Store> open(const LedgerPaths& paths, KeySet keys,
                                    StoreOptions options = {});
  // The same with keys that are loaded when the file has been opened, which others wait for.
  using KeyLoader = std::function<schema::Result<KeySet>()>;
  static schema::Result<Store> open(const LedgerPaths& paths, const KeyLoader& load_keys,
                                    StoreOptions options);

  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // Appends all of it in one transaction, durable when this returns success. Checkpoints go in
  // over every end of a run and at the latest 256 records after the one before.
  //
  // Checked besides the format: the signer fits the kind; a run's records follow its run.opened,
  // which this store appended, and nothing follows its end, also when another process wrote that
  // (kConflict). kInvalidArgument for what breaks the format, kResourceExhausted for a payload past
  // 65,000 bytes. When the disk is full the reserve is freed and the append tried once more. After
  // any failure nothing of the batch is in the ledger, except that a failed
  // COMMIT may have become durable; the next append finds out.
  schema::Result<Appended> append(std::span<const PendingRecord> records,
                                  std::span<const PendingBlob> blobs = {});

  // append() in two halves, for who has to go on as soon as the records are durable: the head file
  // lags until release(), which says why it still does after that. Call it before anything else.
  schema::Result<Appended> append_durably(std::span<const PendingRecord> records,
                                          std::span<const PendingBlob> blobs = {});
  schema::Result<void> release();

  // Signs `record` for `place`, or for the end of the log as last seen when `place` is empty, and
  // moves `place` past it. Takes no lock and writes nothing: append() uses what was sealed only if
  // the record then stands at that very place, and seals anew otherwise. It leaves the record as it
  // was when it cannot be sealed: append() will say why.
  void seal_ahead(PendingRecord& record, std::optional<Place>& place) const;

  // Signs a checkpoint over a tail that has none. Returns the newest note.
  schema::Result<std::string> checkpoint();

  const std::string& origin() const;
  // Signs run.opened.
  const crypto::SigningKey& host_key() const;
  // As of the last open or append.
  std::uint64_t size() const;
  const std::string& newest_checkpoint() const;

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  schema::Result<Appended> append_once(std::span<const PendingRecord> records,
                                       std::span<const PendingBlob> blobs);

  std::unique_ptr<State> state_;
};

}  // namespace aasm::ledger
