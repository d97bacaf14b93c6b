#pragma once

#include "canary.h"

namespace aasm::backend_native {

// Adds to `plan` what watches the limits of context.limits: for each an attempt to raise it, and
// for the sizes of files and the numbers of descriptors one beyond it. The control half raises the
// soft limits of the launch child to what the host permits. SIGXFSZ of our own attempt is
// ignored and cleared.
void add_limit_canaries(const CanaryContext& context, CanaryPlan& plan);

// Adds what watches the ceiling of context.filter: a fork(2) that the channel has to refuse.
void add_creation_canary(const CanaryContext& context, CanaryPlan& plan);

}  // namespace aasm::backend_native
