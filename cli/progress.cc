#include "progress.h"

#include <algorithm>

namespace aasm::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kBetweenLines{100};
// Before this has passed the rate says little.
constexpr milliseconds kReckonAfter{1000};
constexpr seconds kInMinutes{120};

std::string time_left(std::uint64_t done, std::uint64_t total, ProgressLine::Clock::duration took) {
  if (took < kReckonAfter || done == 0 || done >= total) {
    return {};
  }
  const double share = static_cast<double>(total - done) / static_cast<double>(done);
  const double left_s = std::chrono::duration<double>(took).count() * share;
  if (left_s < static_cast<double>(kInMinutes.count())) {
    return ", " + std::to_string(static_cast<std::uint64_t>(left_s) + 1) + " s left";
  }
  return ", " + std::to_string(static_cast<std::uint64_t>(left_s / 60) + 1) + " min left";
}

}  // namespace

std::optional<std::string> ProgressLine::next(std::uint64_t done, std::uint64_t total,
                                              Clock::time_point now) {
  const bool last = done >= total;
  if (written_ && !last && now - *written_ < kBetweenLines) {
    return std::nullopt;
  }
  written_ = now;
  std::string line = "verifying " + std::to_string(done) + " of " + std::to_string(total) +
                     time_left(done, total, now - begin_);
  width_ = std::max(width_, line.size());
  line.resize(width_, ' ');
  return "\r" + line + (last ? "\n" : "");
}

}  // namespace aasm::cli
