#pragma once

#include <memory>

#include "aasm/planner/backend.h"

namespace aasm::launcher {

// The launch of `--isolation none`: no boundary, no canaries, no channel, and the records say so.
// What stays is the lifecycle: exit status, signals, and no process of the tree left at the end
// (this process becomes a subreaper, prctl(2)); a supervisor that is killed leaves the tree
// running.
schema::Result<std::unique_ptr<planner::PreparedExecution>> prepare_unconfined(
    const planner::LaunchRequest& request);

}  // namespace aasm::launcher
