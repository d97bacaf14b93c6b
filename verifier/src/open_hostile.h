#pragma once

#include <string>

#include "aasm/schema/error.h"
#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

#include "finding_log.h"

namespace aasm::verifier {

// Step 2 of docs/spec/ledger-format.md section 9, in two halves.

// Opens the copy at `path` hardened and reads once, which replays what has to be and opens every
// file that belongs to it: afterwards their names are needed no more.
schema::Result<sqlite::Connection> open_hostile(const std::string& path);

// Compares ids and schema text, runs integrity_check, then narrows the connection to the ledger's
// tables. False when the scan would make no sense; why is in `findings`.
bool prepare_hostile(sqlite::Connection& connection, FindingLog& findings);

// The finding for a failure of SQLite while reading the copy.
void add_database_error(FindingLog& findings, const schema::Error& error);

}  // namespace aasm::verifier
