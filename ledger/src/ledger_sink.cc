#include "aasm/ledger/ledger_sink.h"

#include <utility>
#include <variant>

#include "probe_hint.h"
#include "run_lock.h"
#include "run_states.h"
#include "store_thread.h"

namespace aasm::ledger {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

LedgerSink::LedgerSink(LedgerPaths paths) : paths_(std::move(paths)) {}

LedgerSink::~LedgerSink() {
  thread_.reset();  // before the key it signs with
}

Result<std::unique_ptr<LedgerSink>> LedgerSink::begin(Opener open, const LedgerPaths& paths) {
  std::unique_ptr<LedgerSink> sink(new LedgerSink(paths));
  sink->thread_ = AASM_TRY(StoreThread::start(std::move(open), paths.probes));
  return sink;
}

Result<std::unique_ptr<LedgerSink>> LedgerSink::create(Store store, const LedgerPaths& paths) {
  // Shared because a std::function must be copyable; it runs once.
  const auto opened = std::make_shared<Store>(std::move(store));
  std::unique_ptr<LedgerSink> sink = AASM_TRY(
      begin([opened](const StoreOptions&) -> Result<Store> { return std::move(*opened); }, paths));
  AASM_TRY(sink->wait_open());
  return sink;
}

void LedgerSink::wait_readable() {
  thread_->wait_readable();
}

Result<void> LedgerSink::wait_open() {
  // Now, since the caller has nothing to do until the ledger is open.
  run_key_ = std::make_unique<crypto::SigningKey>(AASM_TRY(crypto::SigningKey::generate()));
  const Store* store = AASM_TRY(thread_->wait_open());
  checkpoint_at_open_ = store->newest_checkpoint();
  lock_note_ = std::make_unique<RunLockNote>(RunLockNote{store->origin(), store->size()});
  return {};
}

Result<schema::RunOpened> LedgerSink::open_run(const schema::RunId& run, schema::RunOpened body) {
  if (std::optional<Error> failed = failure()) {
    return std::move(*failed);
  }
  if (!run_.empty() || run.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a sink serves exactly one run");
  }
  body.run_key = run_key_->public_key();
  body.key_storage = "memory_only";
  body.checkpoint = checkpoint_at_open_;
  PendingRecord opened = AASM_TRY(make_pending(run, schema::RecordBody(body), thread_->host_key()));
  lock_ = std::make_unique<RunLock>(AASM_TRY(RunLock::take(paths_.runs, run, *lock_note_)));
  thread_->push({std::move(opened), {}});
  run_ = run;
  return body;
}

Result<schema::Sha256> LedgerSink::stage_blob(std::string bytes) {
  PendingBlob blob = AASM_TRY(make_blob(std::move(bytes)));
  const schema::Sha256 digest = blob.digest;
  AASM_TRY(thread_->push_blob(std::move(blob)));
  return digest;
}

void LedgerSink::submit(schema::RecordBody body) {
  const std::string kind(schema::kind_of(body));
  if (run_.empty() || kind == "run.opened" || ends_run(kind) || schema::is_ledger_kind(kind)) {
    thread_->fail(Error(ErrorCode::kInvalidArgument, kind + " cannot be submitted here"));
    return;
  }
  std::string hint;
  if (const auto* probed = std::get_if<schema::CapabilityProbed>(&body)) {
    if (!probed->reference && !probed->domains.empty()) {
      hint = probe_hint_name(probed->backend.id, probed->conditions);
    }
  }
  Result<PendingRecord> record = make_pending(run_, body, *run_key_);
  if (!record) {
    thread_->fail(std::move(record).error());
    return;
  }
  thread_->push({std::move(*record), std::move(hint)});
}

Result<void> LedgerSink::flush() {
  AASM_TRY(thread_->flush());
  return {};
}

void LedgerSink::start_streaming() {
  thread_->start_streaming();
}

void LedgerSink::close_when_done() {
  thread_->close_when_done();
}

Result<schema::ClosedRun> LedgerSink::close_run(schema::RunClosed body) {
  if (std::optional<Error> failed = thread_->failure()) {
    return std::move(*failed);
  }
  if (run_.empty() || lock_ == nullptr) {
    return Error(ErrorCode::kInvalidArgument, "no run is open");
  }
  body.records = static_cast<std::int64_t>(thread_->seal());
  PendingRecord closed =
      AASM_TRY(make_pending(run_, schema::RecordBody(std::move(body)), *run_key_));
  thread_->push_last({std::move(closed), {}});
  CommitReport report = AASM_TRY(thread_->flush_durably());
  run_key_->wipe();
  lock_->finish();
  lock_.reset();
  return schema::ClosedRun{static_cast<std::int64_t>(report.opened_seq),
                           static_cast<std::int64_t>(report.last_seq),
                           std::move(report.checkpoint)};
}

std::optional<Error> LedgerSink::failure() const {
  std::optional<Error> failed = thread_->failure();
  return failed ? failed : thread_->space_warning();
}
int LedgerSink::failure_fd() const {
  return thread_->failure_fd();
}
std::optional<Error> LedgerSink::head_lag() const {
  return thread_->head_lag();
}

}  // namespace aasm::ledger
