#pragma once

#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

#include "outcome.h"
#include "spill.h"

namespace aasm::verifier {

// After the scan: every blob row must be named by a record, and SHA-256(salt || data) be its key
// (docs/spec/ledger-format.md section 3). A named blob without bytes is withheld. Also holds policy
// documents against the digest that their record states.
schema::Result<void> check_blobs(sqlite::Connection& connection, Spill& spill, Outcome& outcome);

// Anchor rows are read by no check of this version: they are counted, and their form is judged.
schema::Result<void> check_anchors(sqlite::Connection& connection, Outcome& outcome);

}  // namespace aasm::verifier
