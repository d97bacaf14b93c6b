#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "aasm/ledger/reader.h"
#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

// Rows of the ledger's tables as what a reader gives out.
namespace aasm::ledger {

inline constexpr const char* kRowOf = "SELECT seq,leaf,payload,keyid,sig FROM records NOT INDEXED ";

// A row with the columns of kRowOf. kIntegrity when it is no record, or does not hash to its leaf.
schema::Result<StoredRecord> record_of(const sqlite::Statement& row);

// The next row of `SELECT size,note`; nullopt when there is none.
schema::Result<std::optional<StoredCheckpoint>> checkpoint_of(sqlite::Statement& row);

// Makes summaries of the rows of `rows`, which come newest first, until it has `limit`.
schema::Result<std::vector<RunSummary>> summarise(sqlite::Statement& rows, std::size_t limit);

}  // namespace aasm::ledger
