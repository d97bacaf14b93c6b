#pragma once

#include "aasm/verifier/verifier.h"

#include "finding_log.h"

namespace aasm::verifier {

// FAILED > UNREADABLE > INCONCLUSIVE > VERIFIED (docs/spec/ledger-format.md section 10): the
// heaviest weight among everything that was found, listed or not.
Verdict verdict_of(const FindingLog& findings);

// Whether what the report says of the runs may be relied on: in a file that failed, or of which an
// unknown part was not judged, it is only what the records say.
bool claims_are_evidence(Verdict verdict);

// The verdict that a weight forces by itself.
Verdict verdict_of(Weight weight);

}  // namespace aasm::verifier
