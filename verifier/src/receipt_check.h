#pragma once

#include <string>

#include "aasm/verifier/verifier.h"

#include "outcome.h"

namespace aasm::verifier {

// Judges a receipt (docs/spec/ledger-format.md section 7): pinned keys, authorship and inclusion of
// every record in it, in the tree of its one checkpoint. What its records say is passed on as
// recorded; nothing can be recomputed from them.
void check_receipt(const VerifyRequest& request, const std::string& bytes, Outcome& outcome);

}  // namespace aasm::verifier
