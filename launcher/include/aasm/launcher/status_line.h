#pragma once

#include <optional>
#include <string>

#include "aasm/launcher/session.h"
#include "aasm/schema/uuid.h"

namespace aasm::launcher {

// The exit statuses of `aasm run` that are aasm's own (docs/spec/product.md section 7).
inline constexpr int kExitEvidenceFailure = 122;
inline constexpr int kExitWallClock = 124;
inline constexpr int kExitRefused = 125;
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

// The exit status of `aasm run` for this end: the program's own (128+n for signal n), or one above.
int exit_status(const SessionEnd& end);

// One line for --status-fd, so that no status of the program can be mistaken for one of ours:
//   aasm.status/1 ending=finished started=true exit=0 status=0 signal= cause=exited run=<id>
//   closed_seq=12
// Keys in this order, values without blanks, a newline at the end. `run` is absent where the launch
// ended before there was one.
std::string status_line(const SessionEnd& end, const std::optional<schema::RunId>& run);

}  // namespace aasm::launcher
