#pragma once

#include <optional>
#include <string>

#include "aasm/schema/error.h"
#include "aasm/sqlite/connection.h"

#include "finding_log.h"

namespace aasm::verifier {

// Step 2 of docs/spec/ledger-format.md section 9: opens the copy at `path` hardened, compares ids
// and schema text, runs integrity_check, then narrows the connection to the ledger's tables.
// Nullopt when the scan would make no sense; why is in `findings`.
std::optional<sqlite::Connection> open_hostile(const std::string& path, FindingLog& findings);

// The finding for a failure of SQLite while reading the copy.
void add_database_error(FindingLog& findings, const schema::Error& error);

}  // namespace aasm::verifier
