#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "aasm/schema/result.h"

namespace aasm::backend_native {

struct ListedProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  char state = '?';               // of its first thread, as in /proc/PID/stat
  std::uint64_t start_ticks = 0;  // with the pid it names one process
  bool certain = true;            // false: its descent could not be told, and it counts
};

// The descendants of `root`, a subreaper, zombies included. Every process that is there from
// beginning to end is in the answer: /proc is read whole, since a list of children misses whom a
// parent leaves behind meanwhile.
schema::Result<std::vector<ListedProcess>> list_descendants(pid_t root);

// Whether `pid` descends from `root`, a subreaper, or could: false only when it certainly does not.
// Also for the number of a thread.
bool may_descend(pid_t pid, pid_t root);

// The processes of a group. One that is made, or moves, while /proc is read can be missed.
schema::Result<std::vector<pid_t>> list_group(pid_t group);

// Whether `tid`, which was seen in a call that makes a process, has certainly left it: it has
// ended, is stopped, or sleeps in another call.
bool left_creation(pid_t tid);

}  // namespace aasm::backend_native
