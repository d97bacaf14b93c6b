#pragma once

#include <vector>

#include "aasm/schema/record_plan.h"

// What aasm-native can do, as the axes of a CapabilitySet, from what a probe watched. Pure.
namespace aasm::backend_native {

// The axes of a supported domain from its controlled pairs:
//   every control succeeded, every inside attempt refused   enforce, prerequisite satisfied;
//   an inside attempt went through                          unsupported, unsatisfied;
//   anything else                                           inconclusive: unchecked.
// `signal_scope` is the pair that watched a signal to a process outside; without it nothing of ours
// is safe from the workload, so every domain carries it as a prerequisite.
schema::DomainCapability derive_capability(schema::Domain domain,
                                           std::vector<schema::ProbeAttempt> attempts,
                                           const schema::ProbeAttempt& signal_scope);

}  // namespace aasm::backend_native
