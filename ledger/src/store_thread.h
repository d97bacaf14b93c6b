#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/pending_record.h"
#include "aasm/ledger/store.h"
#include "aasm/schema/result.h"

#include "fd.h"

namespace aasm::ledger {

// A record in the queue with what goes along with it.
struct Staged {
  PendingRecord record;
  std::string probe_hint;  // name of the hint file to leave for it; empty for none
};

// What the last commit left behind; heads/ may lag a moment longer.
struct CommitReport {
  std::uint64_t opened_seq = 0;  // of the first record this thread ever committed
  std::uint64_t last_seq = 0;
  std::string checkpoint;  // newest note
};

// The one thread that uses the Store, with the queue in front of it. All members may be called
// from any thread. Errors are sticky: after the first, nothing more is written.
class StoreThread {
 public:
  // The thread opens the Store itself.
  static schema::Result<std::unique_ptr<StoreThread>> start(LedgerSink::Opener open,
                                                            std::string probes);
  ~StoreThread();
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  // As LedgerSink says of them. The Store is the thread's own from the first push on.
  void wait_readable();
  schema::Result<const Store*> wait_open();

  // Queues; never waits for the disk. Dropped after a failure. After seal() it is a failure.
  void push(Staged staged);
  // Ends what push() accepts and returns how many records it took; push_last() adds the one more,
  // with which the thread ends when it is committed.
  std::uint64_t seal();
  void push_last(Staged staged);
  // Keeps a blob until a record that names it is pushed.
  schema::Result<void> push_blob(PendingBlob blob);
  // Commits everything queued so far in one transaction and waits for it. The report is that of
  // the commit that covered the last of it.
  schema::Result<CommitReport> flush();
  // The same, but heads/ may still be on its way: head_lag() waits for it.
  schema::Result<CommitReport> flush_durably();
  void start_streaming();
  // Closes the Store behind the last record, on the thread, and not when this is destroyed.
  void close_when_done();
  // Makes `error` the sticky error unless there is one.
  void fail(schema::Error error);

  std::optional<schema::Error> failure() const;
  // That the reserve is used up: appends go on, and the run is to end now. Readable at failure_fd()
  // as well.
  std::optional<schema::Error> space_warning() const;
  int failure_fd() const { return failure_fd_.get(); }
  std::optional<schema::Error> head_lag() const;
  const crypto::SigningKey& host_key() const { return store_->host_key(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Batch {
    std::vector<Staged> staged;
    std::vector<PendingBlob> blobs;
    std::uint64_t ticket = 0;
  };

  enum class Opening : std::uint8_t { kBegun, kReadable, kOver };

  StoreThread(LedgerSink::Opener open, std::string probes, Fd failure_fd);
  static void* entry(void* self);
  void run();
  bool open_store();
  bool due_locked() const;
  bool over_locked() const;
  std::optional<Batch> next_batch();
  // Signs one record that waits, with the lock released meanwhile. False when none does.
  bool seal_one_ahead(std::unique_lock<std::mutex>& lock);
  void commit(Batch batch);
  void tell_durable(const Batch& batch, const Appended& appended);
  void push_locked(Staged staged);
  void take_named_blobs_locked(const PendingRecord& record);
  void fail_locked(schema::Error error);
  void leave_hints(const Batch& batch, const Appended& appended) const;

  LedgerSink::Opener open_;
  std::optional<Store> store_;  // the thread's own, except host_key(), which never changes
  const std::string probes_;
  const Fd failure_fd_;
  pthread_t thread_{};
  bool started_ = false;

  mutable std::mutex mutex_;
  std::condition_variable work_;          // for the thread
  mutable std::condition_variable done_;  // for flush() and those who wait for the opening
  Opening opening_ = Opening::kBegun;
  Batch queue_;
  std::size_t num_sealed_ = 0;  // of the queue, from its front
  std::optional<Place> ahead_;  // past the last of them
  std::vector<PendingBlob> unnamed_blobs_;
  std::size_t blob_bytes_ = 0;   // of queued and unnamed blobs
  std::uint64_t pushed_ = 0;     // tickets: how many records were ever pushed,
  std::uint64_t wanted_ = 0;     // how far a flush() wants them committed,
  std::uint64_t committed_ = 0;  // and how far they are
  Clock::time_point oldest_{};   // when the first record in the queue came
  bool streaming_ = false;
  bool sealed_ = false;
  bool has_last_ = false;
  bool closes_itself_ = false;
  bool stopping_ = false;
  std::optional<schema::Error> failure_;
  std::optional<schema::Error> space_warning_;
  bool is_released_ = true;  // what was committed, to heads/, as far as can be
  std::optional<schema::Error> head_lag_;
  CommitReport last_;
};

}  // namespace aasm::ledger
