#include "store_thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/schema/json_write.h"

#include "private_files.h"
#include "probe_hint.h"

namespace aasm::ledger {
namespace {

// Streaming commits early when this many records wait: the distance of checkpoints, so that one
// commit is not much dearer than another.
constexpr std::size_t kEagerRecords = 256;

}  // namespace

using schema::Error;
using schema::ErrorCode;
using schema::Result;

StoreThread::StoreThread(LedgerSink::Opener open, std::string probes, Fd failure_fd)
    : open_(std::move(open)), probes_(std::move(probes)), failure_fd_(std::move(failure_fd)) {}

Result<std::unique_ptr<StoreThread>> StoreThread::start(LedgerSink::Opener open,
                                                        std::string probes) {
  Fd event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event.valid()) {
    return os_error("making an eventfd", errno);
  }
  std::unique_ptr<StoreThread> self(
      new StoreThread(std::move(open), std::move(probes), std::move(event)));
  // The thread inherits the mask, so that no signal is ever handled on it.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&self->thread_, nullptr, entry, self.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) {
    return os_error("starting the store thread", failed);
  }
  self->started_ = true;
  return self;
}

StoreThread::~StoreThread() {
  if (!started_) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_one();
  pthread_join(thread_, nullptr);
}

void* StoreThread::entry(void* self) {
  static_cast<StoreThread*>(self)->run();
  return nullptr;
}

bool StoreThread::open_store() {
  StoreOptions options;
  options.on_readable = [this] {
    const std::lock_guard lock(mutex_);
    opening_ = Opening::kReadable;
    done_.notify_all();
  };
  Result<Store> store = std::exchange(open_, nullptr)(std::move(options));
  const std::lock_guard lock(mutex_);
  opening_ = Opening::kOver;
  if (!store) {
    fail_locked(std::move(store).error());
    return false;
  }
  store_.emplace(std::move(*store));
  done_.notify_all();
  return true;
}

void StoreThread::wait_readable() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return opening_ != Opening::kBegun; });
}

Result<const Store*> StoreThread::wait_open() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return opening_ == Opening::kOver; });
  if (failure_) {
    return *failure_;
  }
  return &*store_;
}

void StoreThread::run() {
  if (!open_store()) {
    return;
  }
  while (std::optional<Batch> batch = next_batch()) {
    commit(std::move(*batch));
  }
  std::unique_lock lock(mutex_);
  if (closes_itself_) {
    lock.unlock();
    store_.reset();
  }
}

void StoreThread::close_when_done() {
  const std::lock_guard lock(mutex_);
  closes_itself_ = true;
}

bool StoreThread::due_locked() const {
  if (queue_.staged.empty()) {
    return false;
  }
  return wanted_ > committed_ ||
         (streaming_ && (stopping_ || queue_.staged.size() >= kEagerRecords));
}

// Nothing can come any more.
bool StoreThread::over_locked() const {
  return stopping_ || (has_last_ && queue_.staged.empty());
}

// Waits for work. nullopt when the thread should end.
std::optional<StoreThread::Batch> StoreThread::next_batch() {
  std::unique_lock lock(mutex_);
  while (!due_locked()) {
    if (over_locked()) {
      return std::nullopt;
    }
    if (seal_one_ahead(lock)) {
      continue;
    }
    if (!streaming_ || queue_.staged.empty()) {
      work_.wait(lock);
      continue;
    }
    const Clock::time_point deadline = oldest_ + LedgerSink::kStreamingDelay;
    if (Clock::now() >= deadline) {
      break;
    }
    work_.wait_until(lock, deadline);
  }
  queue_.ticket = pushed_;
  blob_bytes_ = 0;
  for (const PendingBlob& blob : unnamed_blobs_) {
    blob_bytes_ += blob.data.size();
  }
  num_sealed_ = 0;
  ahead_.reset();
  return std::exchange(queue_, {});
}

// While a record waits for its commit this thread has nothing else to do, and signing is most of
// what a commit costs the processor.
bool StoreThread::seal_one_ahead(std::unique_lock<std::mutex>& lock) {
  if (num_sealed_ >= queue_.staged.size()) {
    return false;
  }
  const std::size_t at = num_sealed_++;
  PendingRecord record = std::move(queue_.staged[at].record);
  std::optional<Place> place = ahead_;
  lock.unlock();
  store_->seal_ahead(record, place);
  lock.lock();
  if (!failure_) {  // a failure drops the queue
    queue_.staged[at].record = std::move(record);
    ahead_ = place;
  }
  return true;
}

void StoreThread::commit(Batch batch) {
  std::vector<PendingRecord> records;
  records.reserve(batch.staged.size());
  for (Staged& staged : batch.staged) {
    records.push_back(std::move(staged.record));
  }
  Result<Appended> appended = store_->append_durably(records, batch.blobs);
  if (!appended) {
    fail(std::move(appended).error());
    return;
  }
  tell_durable(batch, *appended);
  // Nobody waits for these.
  leave_hints(batch, *appended);
  Result<void> released = store_->release();
  const std::lock_guard lock(mutex_);
  head_lag_ = released ? std::nullopt : std::optional<Error>(std::move(released).error());
  is_released_ = true;
  done_.notify_all();
}

void StoreThread::tell_durable(const Batch& batch, const Appended& appended) {
  const std::lock_guard lock(mutex_);
  const bool first = committed_ == 0;
  committed_ = batch.ticket;
  is_released_ = false;
  const std::uint64_t opened = first ? appended.first_seq : last_.opened_seq;
  last_ = {opened, appended.first_seq + batch.staged.size() - 1, appended.checkpoint};
  if (appended.reserve_used && !space_warning_) {
    space_warning_ = Error(ErrorCode::kResourceExhausted,
                           "the disk is full: the ledger's reserve holds the end of this run");
    static_cast<void>(eventfd_write(failure_fd_.get(), 1));
  }
  done_.notify_all();
}

void StoreThread::leave_hints(const Batch& batch, const Appended& appended) const {
  for (std::size_t i = 0; i < batch.staged.size(); ++i) {
    if (!batch.staged[i].probe_hint.empty()) {
      // A cache: without the hint the next run probes again.
      static_cast<void>(write_probe_hint(probes_, batch.staged[i].probe_hint,
                                         {appended.first_seq + i, appended.leaves[i]}));
    }
  }
}

void StoreThread::push(Staged staged) {
  const std::lock_guard lock(mutex_);
  if (sealed_) {
    fail_locked(Error(ErrorCode::kConflict, staged.record.kind + " after the run was closed"));
    return;
  }
  push_locked(std::move(staged));
}

std::uint64_t StoreThread::seal() {
  const std::lock_guard lock(mutex_);
  sealed_ = true;
  return pushed_;
}

void StoreThread::push_last(Staged staged) {
  const std::lock_guard lock(mutex_);
  push_locked(std::move(staged));
  has_last_ = true;
}

void StoreThread::push_locked(Staged staged) {
  if (failure_) {
    return;
  }
  if (queue_.staged.size() >= LedgerSink::kMaxStagedRecords) {
    fail_locked(Error(ErrorCode::kResourceExhausted, "too many records wait for the ledger"));
    return;
  }
  take_named_blobs_locked(staged.record);
  if (queue_.staged.empty()) {
    oldest_ = Clock::now();
  }
  queue_.staged.push_back(std::move(staged));
  ++pushed_;
  work_.notify_one();
}

// A blob goes with the first record that holds its digest as text: committed earlier, a crash in
// between would leave a blob that no record names, which fails verification.
void StoreThread::take_named_blobs_locked(const PendingRecord& record) {
  if (unnamed_blobs_.empty()) {
    return;
  }
  const std::string body = schema::json_write(record.body);
  const auto named = [&body](const PendingBlob& blob) {
    return body.find("\"" + blob.digest.hex() + "\"") != std::string::npos;
  };
  const auto first = std::stable_partition(unnamed_blobs_.begin(), unnamed_blobs_.end(),
                                           [&named](const PendingBlob& b) { return !named(b); });
  std::move(first, unnamed_blobs_.end(), std::back_inserter(queue_.blobs));
  unnamed_blobs_.erase(first, unnamed_blobs_.end());
}

Result<void> StoreThread::push_blob(PendingBlob blob) {
  const std::lock_guard lock(mutex_);
  if (failure_) {
    return *failure_;
  }
  if (blob_bytes_ + blob.data.size() > LedgerSink::kMaxStagedBlobBytes) {
    fail_locked(Error(ErrorCode::kResourceExhausted, "too many blob bytes wait for the ledger"));
    return *failure_;
  }
  blob_bytes_ += blob.data.size();
  unnamed_blobs_.push_back(std::move(blob));
  return {};
}

Result<CommitReport> StoreThread::flush() {
  CommitReport report = AASM_TRY(flush_durably());
  static_cast<void>(head_lag());
  return report;
}

Result<CommitReport> StoreThread::flush_durably() {
  std::unique_lock lock(mutex_);
  const std::uint64_t ticket = pushed_;
  wanted_ = std::max(wanted_, ticket);
  work_.notify_one();
  done_.wait(lock, [&] { return failure_.has_value() || committed_ >= ticket; });
  if (failure_) {
    return *failure_;
  }
  return last_;
}

void StoreThread::start_streaming() {
  const std::lock_guard lock(mutex_);
  streaming_ = true;
  work_.notify_one();
}

void StoreThread::fail(Error error) {
  const std::lock_guard lock(mutex_);
  fail_locked(std::move(error));
}

void StoreThread::fail_locked(Error error) {
  if (failure_) {
    return;
  }
  failure_ = std::move(error);
  queue_ = {};
  num_sealed_ = 0;
  unnamed_blobs_.clear();
  // Cannot fail: the counter starts at zero and this runs once.
  static_cast<void>(eventfd_write(failure_fd_.get(), 1));
  done_.notify_all();
}

std::optional<Error> StoreThread::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<Error> StoreThread::space_warning() const {
  const std::lock_guard lock(mutex_);
  return space_warning_;
}

std::optional<Error> StoreThread::head_lag() const {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return is_released_; });
  return head_lag_;
}

}  // namespace aasm::ledger
