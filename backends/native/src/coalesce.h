#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/schema/record_activity.h"
#include "aasm/schema/record_run.h"

#include "event_budget.h"

namespace aasm::backend_native {

enum class EventKind : std::uint8_t { kDecision, kObservation };

// When a batch is cut. The age leaves room for the store's commit within the 250 ms after which an
// event is durable (docs/spec/product.md section 6.2). The size is that of the events as written.
struct BatchLimits {
  std::size_t max_events = schema::kBatchMaxEvents;
  std::size_t max_bytes = std::size_t{60} * 1024;
  std::chrono::milliseconds max_age{200};
  EventLimits events;
};

// An upper bound of the bytes an event takes in a record's JSON, without writing it.
std::size_t encoded_size_bound(const schema::Event& event);

// Turns single events into batches: identical events become one entry with a count, entries get
// contiguous numbers from 1 over both kinds, batches leave through the emitter in order. Where a
// budget of entries is spent, actions that differ by object and executable alone become one entry
// whose object is unlisted. Memory is bounded by one batch and by the distinct pids of its entries.
// One thread at a time.
class Coalescer {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Coalescer(BatchLimits limits = {}) : limits_(limits), budget_(limits.events) {}

  // Batches made without an emitter are counted as dropped.
  void set_emitter(planner::ActivityEmitter emit) { emit_ = std::move(emit); }

  // True when add(), at `now` or before, would raise the count of an open entry rather than make
  // one.
  bool holds(EventKind kind, const schema::Event& event, Clock::time_point now) const;

  // Whether less than half of the entries for events like this one is left.
  bool runs_low(const schema::Event& event, Clock::time_point now) const {
    return budget_.half_spent(event, now);
  }

  // `event.number` and `pids` are ignored; `count`: of how many actions. pid, tid and parents of an
  // entry are those of its first event.
  void add(EventKind kind, schema::Event event, Clock::time_point now);

  // An event that was lost; the next batch says so.
  void count_dropped(Clock::time_point now);

  // When the open batch has to be cut; nullopt while there is none.
  std::optional<Clock::time_point> deadline() const;
  void flush_if_due(Clock::time_point now);
  void flush();

  // Batches that were cut because they were full, so far.
  std::int64_t full_batches() const { return full_batches_; }

  // Counts so far, entries of the open batch included. `present`, `opened` and `closed` are left
  // to the channel.
  schema::ChannelTotals totals() const;

 private:
  struct Entry {
    schema::Event event;
    std::unordered_set<std::int64_t> pids;
  };

  // Of an event: what tells it from others, and what it takes in a record at most.
  struct Measured {
    std::string key;
    std::size_t size;
  };

  bool count_up(const std::string& key, const schema::Event& event);
  void open_entry(EventKind kind, schema::Event event, Measured measured, Clock::time_point now);
  bool batch_is_full(EventKind kind, std::size_t more_bytes) const;

  BatchLimits limits_;
  EventBudget budget_;
  planner::ActivityEmitter emit_;
  EventKind kind_ = EventKind::kDecision;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> index_;  // identity to position in entries_
  std::size_t bytes_ = 0;
  Clock::time_point opened_at_{};
  std::int64_t full_batches_ = 0;
  std::int64_t next_number_ = 1;
  std::int64_t actions_ = 0;
  std::int64_t dropped_pending_ = 0;
  std::int64_t dropped_ = 0;
  std::optional<std::int64_t> nested_filter_event_;
};

}  // namespace aasm::backend_native
