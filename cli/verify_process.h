#pragma once

#include <chrono>

#include "verify_child.h"

namespace aasm::cli {

// Verifies in a child process that may read the target and the files beside it, write in a
// directory of its own, and little else (process/self_confine.h); the report says how far that
// held. This process reads none of the target's bytes: it waits, removes the directory, and makes
// UNREADABLE of a child that runs past `deadline` (zero: none), out of memory, or dies. A signal
// that ends this process ends the child first and leaves no directory behind.
Verified verify_confined(verifier::VerifyRequest request, Format format,
                         std::chrono::seconds deadline);

}  // namespace aasm::cli
