#pragma once

#include <optional>

#include "aasm/planner/backend.h"
#include "aasm/schema/evidence_sink.h"
#include "aasm/schema/result.h"

#include "signals.h"

namespace aasm::launcher {

// Waits until the program has ended: passes signals on, enforces the wall-clock limit when there is
// one, and ends the tree when a record could not be written. Returns the sink's error in that case.
std::optional<schema::Error> supervise(planner::RunningExecution& running,
                                       const schema::EvidenceSink& sink, const SignalRelay& relay);

}  // namespace aasm::launcher
