#pragma once

#include <algorithm>
#include <chrono>

namespace aasm::backend_native {

// A token bucket. Bounds how fast batches that were full before their time may follow each other:
// calls that are all different (numbers up to 2^30 can be tried) do not coalesce, and would fill
// the ledger's disk at the speed of memory. Their callers wait for an answer anyway; the wait makes
// the flood slow, and loses nothing. One thread at a time.
class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // 64 batches at once, then one each 32 ms: about 2 MB a second.
  explicit Pace(double burst = 64,
                std::chrono::milliseconds interval = std::chrono::milliseconds(32))
      : burst_(burst), interval_(interval), tokens_(burst) {}

  // Takes tokens; how long to wait before going on, zero while there are some.
  std::chrono::milliseconds take(Clock::time_point now, double tokens = 1) {
    tokens_ = left(now);
    last_ = now;
    tokens_ -= tokens;
    if (tokens_ >= 0) {
      return std::chrono::milliseconds(0);
    }
    const double wait = -tokens_ * static_cast<double>(interval_.count());
    return std::chrono::milliseconds(static_cast<std::chrono::milliseconds::rep>(wait) + 1);
  }

  // Whether take() would have to wait.
  bool exhausted(Clock::time_point now) const { return left(now) < 1; }

  // Tokens.
  double left(Clock::time_point now) const {
    if (last_ == Clock::time_point()) {
      return tokens_;
    }
    const std::chrono::duration<double, std::milli> passed = now - last_;
    return std::min(burst_, tokens_ + passed.count() / static_cast<double>(interval_.count()));
  }

 private:
  double burst_;
  std::chrono::milliseconds interval_;
  double tokens_;
  Clock::time_point last_{};
};

}  // namespace aasm::backend_native
