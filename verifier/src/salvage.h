#pragma once

#include "aasm/sqlite/connection.h"

#include "finding_log.h"

namespace aasm::verifier {

// Of a file that integrity_check found damaged: reads each table of `ledger` once, from its first
// row as far as SQLite gives rows, into tables of the same names in `kept`, of which each key is
// there once. The walk then reads `kept`, so that it does not depend on which way SQLite takes
// through a damaged tree (docs/spec/verify-rules.md, Damaged files). Where a table breaks off is in
// `findings`. False when nothing is to be walked; why is in `findings`.
bool salvage(sqlite::Connection& ledger, sqlite::Connection& kept, FindingLog& findings);

}  // namespace aasm::verifier
