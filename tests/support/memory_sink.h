#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aasm/crypto/hash.h"
#include "aasm/schema/evidence_sink.h"

namespace aasm::test {

// An EvidenceSink that keeps records in memory, for tests of whatever writes evidence. It passes
// the same contract suite as the ledger's (tests/contract/evidence_sink_contract.h).
class MemorySink : public schema::EvidenceSink {
 public:
  MemorySink() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_ < 0) {
      abort();
    }
  }
  ~MemorySink() override { close(event_); }

  // What is durable, in order.
  std::vector<schema::RecordBody> durable() const {
    const std::lock_guard lock(mutex_);
    return {records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(num_durable_)};
  }
  // What was staged, durable or not.
  std::vector<schema::RecordBody> staged() const {
    const std::lock_guard lock(mutex_);
    return records_;
  }
  std::optional<std::string> blob(const schema::Sha256& digest) const {
    const std::lock_guard lock(mutex_);
    const auto found = blobs_.find(digest);
    return found == blobs_.end() ? std::nullopt : std::optional(found->second);
  }
  // The next commit fails with `error`, and the sink with it.
  void fail_next_commit(schema::Error error) {
    const std::lock_guard lock(mutex_);
    fault_ = std::move(error);
  }

  schema::Result<schema::RunOpened> open_run(const schema::RunId& run,
                                             schema::RunOpened body) override {
    const std::lock_guard lock(mutex_);
    if (failure_) {
      return *failure_;
    }
    if (!run_.empty() || run.empty()) {
      return schema::Error(schema::ErrorCode::kInvalidArgument, "a sink serves exactly one run");
    }
    run_ = run;
    body.run_key.bytes.fill(1);
    body.key_storage = "memory_only";
    body.checkpoint = "checkpoint\n";
    stage(body);
    return body;
  }

  schema::Result<schema::Sha256> stage_blob(std::string bytes) override {
    const std::lock_guard lock(mutex_);
    if (failure_) {
      return *failure_;
    }
    // A counter for salt: digests differ, as with random salt, and runs are reproducible.
    const std::string salt = std::to_string(blobs_.size());
    const schema::Sha256 digest = crypto::sha256(schema::as_bytes(salt + bytes));
    blobs_.emplace(digest, std::move(bytes));
    return digest;
  }

  void submit(schema::RecordBody body) override {
    const std::lock_guard lock(mutex_);
    const std::string_view kind = schema::kind_of(body);
    if (run_.empty() || closed_ || kind == "run.opened" || kind == "run.closed" ||
        kind == "run.recovered" || schema::is_ledger_kind(kind)) {
      fail(schema::Error(schema::ErrorCode::kInvalidArgument, "cannot be submitted here"));
      return;
    }
    if (!failure_) {
      stage(std::move(body));
    }
  }

  schema::Result<void> flush() override {
    const std::lock_guard lock(mutex_);
    commit();
    return failure_ ? schema::Result<void>(*failure_) : schema::Result<void>();
  }

  void start_streaming() override {
    const std::lock_guard lock(mutex_);
    streaming_ = true;
    commit();
  }

  schema::Result<schema::ClosedRun> close_run(schema::RunClosed body) override {
    const std::lock_guard lock(mutex_);
    if (failure_) {
      return *failure_;
    }
    if (run_.empty() || closed_) {
      return schema::Error(schema::ErrorCode::kInvalidArgument, "no run is open");
    }
    closed_ = true;
    body.records = static_cast<std::int64_t>(records_.size());
    stage(std::move(body));
    commit();
    if (failure_) {
      return *failure_;
    }
    return schema::ClosedRun{1, static_cast<std::int64_t>(records_.size()), "checkpoint\n"};
  }

  std::optional<schema::Error> failure() const override {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  int failure_fd() const override { return event_; }

 private:
  void stage(schema::RecordBody body) {
    records_.push_back(std::move(body));
    if (streaming_) {
      commit();
    }
  }
  void commit() {
    if (failure_ || num_durable_ == records_.size()) {
      return;
    }
    if (fault_) {
      fail(*std::exchange(fault_, std::nullopt));
      return;
    }
    num_durable_ = records_.size();
  }
  void fail(schema::Error error) {
    if (!failure_) {
      failure_ = std::move(error);
      eventfd_write(event_, 1);
    }
  }

  mutable std::mutex mutex_;
  int event_;
  schema::RunId run_;
  std::vector<schema::RecordBody> records_;
  std::size_t num_durable_ = 0;
  std::map<schema::Sha256, std::string> blobs_;
  std::optional<schema::Error> fault_;
  std::optional<schema::Error> failure_;
  bool streaming_ = false;
  bool closed_ = false;
};

}  // namespace aasm::test
