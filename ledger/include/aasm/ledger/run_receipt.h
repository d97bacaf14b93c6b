#pragma once

#include <string>

#include "aasm/ledger/reader.h"
#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

namespace aasm::ledger {

// The receipt of a closed run (docs/spec/ledger-format.md section 7): record 0, the key.* records
// that the checkpoint covers, run.opened and run.closed, each with its inclusion proof in the
// checkpoint over run.closed. Every proof is checked against the signed root before this returns;
// signatures are the receipt's reader's work.
//
// kNotFound for an unknown run, kUnavailable for one that is not closed, kIntegrity when the
// ledger's leaves and its checkpoint disagree.
schema::Result<std::string> build_run_receipt(LedgerReader& reader, const schema::RunId& run);

}  // namespace aasm::ledger
