#pragma once

#include "aasm/verifier/verifier.h"

#include "finding_log.h"

namespace aasm::verifier {

// FAILED > UNREADABLE > INCONCLUSIVE > VERIFIED (docs/spec/ledger-format.md section 10): the
// heaviest weight among everything that was found, listed or not.
Verdict verdict_of(const FindingLog& findings);

// The verdict that a weight forces by itself.
Verdict verdict_of(Weight weight);

}  // namespace aasm::verifier
