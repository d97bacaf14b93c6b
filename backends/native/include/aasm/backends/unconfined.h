#pragma once

#include <memory>

#include "aasm/planner/backend.h"

namespace aasm::backend_native {

// The launch of `--isolation none`: no boundary, no canaries, no channel, and the records say so.
// What stays is the lifecycle, by the launch helper as with a boundary: a warden is the program's
// parent, exit status, stops and signals are passed on, and no process of the tree outlives the
// run, also when this process is killed. The program keeps every descriptor that this process would
// leave open across an exec. Not a backend: it is never selected, only asked for. Session's thread
// only.
schema::Result<std::unique_ptr<planner::PreparedExecution>> prepare_unconfined(
    const planner::LaunchRequest& request);

}  // namespace aasm::backend_native
