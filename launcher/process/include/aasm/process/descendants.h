#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <vector>

#include "aasm/schema/result.h"

namespace aasm::process {

// Makes the calling process the new parent of every orphan among its descendants (prctl(2),
// PR_SET_CHILD_SUBREAPER). Process-wide, and not inherited by children.
schema::Result<void> become_subreaper();

// The children of the calling process that proc(5) lists now, of all its threads, zombies included.
schema::Result<std::vector<pid_t>> list_children();

// Kills and reaps every descendant that is not `keep` or below one of it, until none is left or the
// timeout has passed (kUnavailable). For the case that the warden has died: needs the calling
// process to be a subreaper. Returns how many died of it. Reaps: no other thread may wait for them.
schema::Result<std::size_t> kill_descendants(const std::vector<pid_t>& keep,
                                             std::chrono::milliseconds timeout);

}  // namespace aasm::process
