#pragma once

#include <string>

#include "aasm/ledger/reader.h"

#include "options.h"
#include "verified_tree.h"

namespace aasm::cli {

// The ledger of the options, not verified.
schema::Result<ledger::LedgerReader> open_reader(const CommonOptions& common);

// The one run whose id begins with `prefix`.
schema::Result<schema::RunId> find_run(ledger::LedgerReader& reader, const std::string& prefix);

// Verifies the ledger of the options as `aasm verify` does, runs that are still open among it. An
// error, with what verify says, unless the verdict is VERIFIED (cmd_verify.cc). The file can be
// another by the time it is read: check_read().
schema::Result<VerifiedTree> require_verified(const CommonOptions& common);

}  // namespace aasm::cli
