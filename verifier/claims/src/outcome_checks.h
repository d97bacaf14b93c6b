#pragma once

#include "aasm/claims/contradictions.h"
#include "aasm/claims/facts.h"

namespace aasm::claims {

// What the plan promised against what policy asked: notes requirements that a started program
// should not have run without. Only for runs with a process.started.
void check_outcomes(const RunFacts& facts, ContradictionLog& log);

// Notes domains that the plan calls enforced and that no installed control for policy serves. Only
// for runs with a process.started.
void check_controls(const RunFacts& facts, ContradictionLog& log);

// Everything that contradicts in the run: what was noted while records passed, and what only shows
// when all of them are there.
ContradictionLog all_contradictions(const RunFacts& facts);

}  // namespace aasm::claims
