#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "filter_spec.h"

namespace aasm::backend_native {

// Says which thread may make a process so that the tree never has more than its ceiling. Counted
// are processes (thread groups) from their creation until they have been waited for, the program
// included; threads are not, nor is the warden, nor what the warden is about to reap.
//
// Far below the ceiling a creation costs an addition: what may live is at most what was counted at
// the last look at /proc, and one for each creation permitted since. When that reaches the ceiling
// /proc is looked at. Who was permitted and has not been seen through it yet still counts, so no
// order of events lets one more live than the ceiling; the price is a refusal that comes one early
// for a thread that made a process, has been running ever since and whose child is gone already.
// One thread at a time.
class ProcessCount {
 public:
  // `program` is the one member of the tree, and has not been waited for; every other will descend
  // from `root`, which is a subreaper. What else descends from it now, as the broker, is of ours.
  ProcessCount(std::optional<ProcessCeiling> ceiling, pid_t root, pid_t program);

  // Whether `tid`, which is blocked in a call that makes a process, may go on. May take some 20 ms
  // where creations are under way and the ceiling is near.
  bool admits(pid_t tid);

 private:
  bool has_room() const { return counted_ + unborn_ < ceiling_->max; }
  bool find_room();
  void look();
  void forget_settled();

  std::optional<ProcessCeiling> ceiling_;
  pid_t root_;
  std::unordered_map<pid_t, std::uint64_t> members_;  // of the last look, with their start
  std::unordered_map<pid_t, std::uint64_t> strangers_;
  std::int64_t counted_ = 1;
  std::int64_t unborn_ = 0;              // permitted, and in no look yet: at most so many
  std::unordered_set<pid_t> permitted_;  // threads that may still be in the call
};

}  // namespace aasm::backend_native
