#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <utility>

#include "aasm/schema/record_activity.h"

#include "pace.h"

namespace aasm::backend_native {

// How many entries a run may write at once; one more each of the intervals (docs/decisions/0028).
struct EventLimits {
  double denied = 1U << 14U;
  std::chrono::milliseconds denied_interval{125};
  double others = 1U << 18U;
  std::chrono::milliseconds others_interval{32};
};

// What is left of that, for each domain and outcome by itself: who floods one hides nothing in
// another, and what was allowed takes no place from what was refused. One thread at a time.
class EventBudget {
 public:
  explicit EventBudget(EventLimits limits) : limits_(limits) {}

  bool spent(const schema::Event& event, Pace::Clock::time_point now) const {
    return left(event, now) < 1;
  }

  bool half_spent(const schema::Event& event, Pace::Clock::time_point now) const {
    return left(event, now) < burst_of(event) / 2;
  }

  // An entry of more than 4 KiB counts for several.
  void take(const schema::Event& event, std::size_t bytes, Pace::Clock::time_point now) {
    constexpr std::size_t kBytes = 4096;
    const std::size_t entries = 1 + bytes / kBytes;
    const auto interval = is_denial(event) ? limits_.denied_interval : limits_.others_interval;
    paces_.try_emplace(Key(event.domain, event.outcome), burst_of(event), interval)
        .first->second.take(now, static_cast<double>(entries));
  }

 private:
  using Key = std::pair<schema::Domain, schema::DecisionOutcome>;

  static bool is_denial(const schema::Event& event) {
    return event.outcome == schema::DecisionOutcome::kDenied;
  }

  double burst_of(const schema::Event& event) const {
    return is_denial(event) ? limits_.denied : limits_.others;
  }

  double left(const schema::Event& event, Pace::Clock::time_point now) const {
    const auto found = paces_.find(Key(event.domain, event.outcome));
    return found == paces_.end() ? burst_of(event) : found->second.left(now);
  }

  EventLimits limits_;
  std::map<Key, Pace> paces_;
};

}  // namespace aasm::backend_native
