#pragma once

#include <optional>

#include "aasm/planner/backend.h"
#include "aasm/schema/evidence_sink.h"
#include "aasm/schema/result.h"

#include "signals.h"
#include "terminal.h"
#include "wall_clock.h"

namespace aasm::launcher {

// Waits until the program has ended: passes signals on, stops with the program and continues it, as
// a member of a shell's pipeline does, and ends the tree when a record could not be written or the
// wall clock is over. Returns the sink's error in that case. What the sink holds is durable before
// this process stops.
std::optional<schema::Error> supervise(planner::RunningExecution& running,
                                       schema::EvidenceSink& sink, const SignalRelay& relay,
                                       TerminalState& terminal, WallClock& clock);

}  // namespace aasm::launcher
