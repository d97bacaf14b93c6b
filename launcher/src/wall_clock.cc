#include "wall_clock.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include "aasm/process/fd.h"

namespace aasm::launcher {

schema::Result<WallClock> WallClock::create(std::optional<std::chrono::seconds> limit) {
  WallClock clock;
  clock.limit_ = limit;
  if (limit) {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGCONT;
    timer_t timer{};
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
      return process::system_error("making a timer for the wall clock", errno);
    }
    clock.timer_ = timer;
  }
  return clock;
}

WallClock::WallClock(WallClock&& other) noexcept
    : limit_(other.limit_),
      timer_(std::exchange(other.timer_, std::nullopt)),
      phase_(other.phase_),
      due_(other.due_) {}

WallClock& WallClock::operator=(WallClock&& other) noexcept {
  std::swap(limit_, other.limit_);
  std::swap(timer_, other.timer_);
  std::swap(phase_, other.phase_);
  std::swap(due_, other.due_);
  return *this;
}

WallClock::~WallClock() {
  if (timer_) {
    ::timer_delete(*timer_);
  }
}

void WallClock::start() {
  if (!limit_) {
    return;
  }
  phase_ = Phase::kRuns;
  due_ = Clock::now() + *limit_;
  // Again every second: this process may be about to stop when the first one comes.
  itimerspec when{};
  when.it_value.tv_sec = static_cast<time_t>(limit_->count());
  when.it_interval.tv_sec = 1;
  // It fails for a time that is none, and for a timer that is none.
  ::timer_settime(*timer_, 0, &when, nullptr);
}

int WallClock::wait_ms() const {
  if (phase_ != Phase::kRuns && phase_ != Phase::kTold) {
    return -1;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(due_ - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

void WallClock::act(planner::RunningExecution& running) {
  if ((phase_ != Phase::kRuns && phase_ != Phase::kTold) || Clock::now() < due_) {
    return;
  }
  if (phase_ == Phase::kTold) {
    phase_ = Phase::kKilled;
    running.terminate(schema::ExitCause::kWallClock);
    return;
  }
  phase_ = Phase::kTold;
  due_ = Clock::now() + planner::kWallClockGrace;
  // A program that is stopped cannot end. One that has just ended needs neither.
  for (const int signal : {SIGTERM, SIGCONT}) {
    [[maybe_unused]] const auto delivered = running.send_signal(signal);
  }
}

}  // namespace aasm::launcher
