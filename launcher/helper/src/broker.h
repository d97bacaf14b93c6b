#pragma once

#include "frame.h"

namespace aasm::helper {

// Starts the broker as a child of the warden (CLONE_PARENT), in the Landlock domain this process
// has now, stores its pid on the page, and waits until it holds nothing of this process. Returns 0
// or a negative errno, in the caller only.
long start_broker(const Frame& frame, wire::StatusPage& page);

}  // namespace aasm::helper
