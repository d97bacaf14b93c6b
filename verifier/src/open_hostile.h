#pragma once

#include <cstdint>
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

enum class Soundness : std::uint8_t {
  kUnusable,  // a scan would make no sense
  kDamaged,   // the trees are not as they should be: to be read once, by salvage()
  kSound,
};

// Compares ids and schema text, runs integrity_check, then narrows the connection to the ledger's
// tables. Why it is not sound is in `findings`.
Soundness prepare_hostile(sqlite::Connection& connection, FindingLog& findings);

// The finding for a failure of SQLite while reading the copy.
void add_database_error(FindingLog& findings, const schema::Error& error);

}  // namespace aasm::verifier
