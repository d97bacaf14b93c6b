#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace aasm::cli {

// The line that says how far a verification is, for a terminal: written over itself, at most ten
// times a second, with the time left once there is something to reckon it from. A value that
// depends on nothing but what it is told.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ProgressLine(Clock::time_point begin) : begin_(begin) {}

  // What to write now; nullopt when the line of before is recent enough. The first and the last are
  // always written, and the last ends the line.
  std::optional<std::string> next(std::uint64_t done, std::uint64_t total, Clock::time_point now);

 private:
  Clock::time_point begin_;
  std::optional<Clock::time_point> written_;
  std::size_t width_ = 0;  // of the longest line so far: what a shorter one must cover
};

}  // namespace aasm::cli
