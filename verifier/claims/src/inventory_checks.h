#pragma once

#include "aasm/claims/contradictions.h"
#include "aasm/claims/facts.h"

namespace aasm::claims {

// What the plan's inventory says of environment and descriptors against what the controls of the
// credential domain say was passed on. A run without an inventory has nothing to compare.
void check_inventory(const RunFacts& facts, ContradictionLog& log);

}  // namespace aasm::claims
