#pragma once

#include "aasm/verifier/verifier.h"

#include "outcome.h"
#include "scratch_dir.h"
#include "snapshot.h"

namespace aasm::verifier {

// Steps 2 to 6 of docs/spec/ledger-format.md section 9 on the copies of `snapshot`. Everything it
// finds is in `outcome`.
void check_ledger(const VerifyRequest& request, const Snapshot& snapshot, ScratchDir& scratch,
                  Outcome& outcome);

}  // namespace aasm::verifier
