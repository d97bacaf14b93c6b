#pragma once

#include "frame.h"

namespace aasm::helper {

// Installs everything but the filter around the calling process, in the order of wire::Step, and
// reports each step. A step that fails ends the process.
void install_boundary(const Frame& frame, wire::StatusPage& page);

// What the role unconfined does instead: working directory and signals.
void set_up_unconfined(const Frame& frame, wire::StatusPage& page);

// Installs the filter, the last step, after which no system call may be made that the program's
// policy does not know. Writes one byte to the report pipe first. Returns the listener's number in
// this process, -1 when there is none.
int install_filter(const Frame& frame, wire::StatusPage& page);

// Closes every descriptor that is not in `keep`, an ascending list. Returns 0 or a negative errno.
long close_all_except(const int32_t* keep, uint32_t count);

}  // namespace aasm::helper
