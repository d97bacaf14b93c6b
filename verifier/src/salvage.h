#pragma once

#include <cstdint>

#include "aasm/sqlite/connection.h"

#include "finding_log.h"

namespace aasm::verifier {

// Of a file that integrity_check found damaged: reads each table of `ledger` once, from its first
// row as far as SQLite gives rows, into tables of the same names in `kept`, of which each key is
// there once. The walk then reads `kept`, so that it does not depend on which way SQLite takes
// through a damaged tree (docs/spec/verify-rules.md, Damaged files). At most `max_bytes` are kept:
// in a hostile file many rows can share one long chain of pages. Where a table breaks off is in
// `findings`. False when nothing is to be walked; why is in `findings`.
bool salvage(sqlite::Connection& ledger, sqlite::Connection& kept, std::uint64_t max_bytes,
             FindingLog& findings);

}  // namespace aasm::verifier
