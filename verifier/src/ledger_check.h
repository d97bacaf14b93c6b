#pragma once

#include <string>

#include "aasm/verifier/verifier.h"

#include "outcome.h"
#include "scratch_dir.h"

namespace aasm::verifier {

// Steps 2 to 6 of docs/spec/ledger-format.md section 9 on the copy at `path`. Everything it finds
// is in `outcome`.
void check_ledger(const VerifyRequest& request, const std::string& path, const ScratchDir& scratch,
                  Outcome& outcome);

}  // namespace aasm::verifier
