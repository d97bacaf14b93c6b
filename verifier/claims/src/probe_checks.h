#pragma once

#include "aasm/claims/contradictions.h"
#include "aasm/claims/facts.h"

namespace aasm::claims {

// What the plan promises, and of which backend, against what the run's records say was measured: a
// plan may promise less than that, never more. Whether or not the program started.
void check_plan_against_probe(const RunFacts& facts, ContradictionLog& log);

}  // namespace aasm::claims
