#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "aasm/planner/backend.h"
#include "aasm/schema/result.h"

namespace aasm::launcher {

// Ends a program that has run for longer than its policy lets it: SIGTERM to the program when the
// time is over, the whole tree killed planner::kWallClockGrace later. By CLOCK_MONOTONIC, so
// setting the clock changes nothing; time in which the program is stopped counts.
//
// The supervisor stops with its program, as a job of a shell does, while others of the tree may go
// on. So a timer of the kernel sends this process SIGCONT when the time is over.
class WallClock {
 public:
  // Without a limit it is never over. An error means that no timer could be had.
  static schema::Result<WallClock> create(std::optional<std::chrono::seconds> limit);
  WallClock(WallClock&& other) noexcept;
  WallClock& operator=(WallClock&& other) noexcept;
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;
  ~WallClock();

  // Time counts from here.
  void start();

  // How long poll(2) may wait, in milliseconds; -1 where nothing is due.
  int wait_ms() const;

  // Does what is due. Call whenever poll(2) returns and the program has not ended.
  void act(planner::RunningExecution& running);

  // Whether the program has been told to end.
  bool over() const { return phase_ == Phase::kTold || phase_ == Phase::kKilled; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Phase : std::uint8_t { kNone, kRuns, kTold, kKilled };

  WallClock() = default;

  std::optional<std::chrono::seconds> limit_;
  std::optional<timer_t> timer_;
  Phase phase_ = Phase::kNone;
  Clock::time_point due_;
};

}  // namespace aasm::launcher
