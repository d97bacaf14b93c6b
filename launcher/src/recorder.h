#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "aasm/schema/evidence_sink.h"

namespace aasm::launcher {

// Passes records to the sink and shows each to the observer, in the order submitted. submit() may
// be called from any thread; records of different threads do not overtake one another between
// sink and observer.
class Recorder {
 public:
  using Observer = std::function<void(const schema::RecordBody&)>;

  Recorder(schema::EvidenceSink& sink, Observer observer)
      : sink_(sink), observer_(std::move(observer)) {}

  schema::Result<void> open(const schema::RunId& run, schema::RunOpened body) {
    const std::lock_guard lock(mutex_);
    show(AASM_TRY(sink_.open_run(run, std::move(body))));
    ++records_;
    return {};
  }

  void submit(schema::RecordBody body) {
    const std::lock_guard lock(mutex_);
    show(body);
    ++records_;
    sink_.submit(std::move(body));
  }

  schema::Result<schema::ClosedRun> close(schema::RunClosed body) {
    const std::lock_guard lock(mutex_);
    schema::ClosedRun closed = AASM_TRY(sink_.close_run(body));
    body.records = records_;
    show(std::move(body));
    return closed;
  }

  schema::EvidenceSink& sink() { return sink_; }

 private:
  void show(const schema::RecordBody& body) const {
    if (observer_) {
      observer_(body);
    }
  }

  schema::EvidenceSink& sink_;
  Observer observer_;
  std::mutex mutex_;
  std::int64_t records_ = 0;
};

}  // namespace aasm::launcher
