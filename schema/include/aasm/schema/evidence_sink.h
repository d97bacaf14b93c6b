#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "aasm/schema/record.h"
#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

namespace aasm::schema {

// What a run leaves behind when it is closed.
struct ClosedRun {
  std::int64_t opened_seq = 0;
  std::int64_t closed_seq = 0;
  std::string checkpoint;  // the released note that covers run.closed
};

// Where the records of one run go. The launcher writes through this and sees no database
// (docs/architecture.md). One object serves one run. submit() may be called from any thread;
// the other members from the session's thread only.
//
// Errors are sticky: after the first failed append every call returns it and nothing is written
// any more, so that a run with a hole in its evidence ends as evidence_failure.
class EvidenceSink {
 public:
  EvidenceSink() = default;
  EvidenceSink(const EvidenceSink&) = delete;
  EvidenceSink& operator=(const EvidenceSink&) = delete;
  virtual ~EvidenceSink() = default;

  // Stages run.opened after filling run_key, key_storage and checkpoint. Returns the body as
  // staged. Nothing is durable yet.
  virtual Result<RunOpened> open_run(const RunId& run, RunOpened body) = 0;

  // Keeps `bytes` beside the record that will name it: returns SHA-256(salt || bytes).
  virtual Result<Sha256> stage_blob(std::string bytes) = 0;

  // Stages a record; it becomes durable with the next flush(), or at the latest 250 ms later once
  // start_streaming() was called. Never blocks on the disk.
  virtual void submit(RecordBody body) = 0;

  // Everything staged so far is durable when this returns success: one transaction.
  virtual Result<void> flush() = 0;

  // From now on staged records are committed within 250 ms without a flush().
  virtual void start_streaming() = 0;

  // Stages run.closed, commits everything with a checkpoint over it, and ends the run.
  // `body.records` is filled here.
  virtual Result<ClosedRun> close_run(RunClosed body) = 0;

  // The sticky error, if any. `failure_fd()` becomes readable (poll(2)) when one appears; -1 when
  // the sink has none. The descriptor belongs to the sink.
  virtual std::optional<Error> failure() const = 0;
  virtual int failure_fd() const = 0;
};

}  // namespace aasm::schema
