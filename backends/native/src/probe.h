#pragma once

#include "aasm/planner/backend.h"
#include "aasm/schema/record_plan.h"

namespace aasm::backend_native {

// Measures on this host what the backend can do: starts the launch helper in its probe role, which
// tries harmless actions before a boundary and, from a grandchild, inside it. Objects are made in
// the request's scratch directory and removed again. Takes a few milliseconds. What a missing
// mechanism does not allow is in the result; an Error means that nothing could be measured.
schema::Result<schema::CapabilityProbed> probe_host(const planner::ProbeRequest& request,
                                                    schema::BackendIdentity identity);

}  // namespace aasm::backend_native
