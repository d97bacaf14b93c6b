#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

// The database schema of format ledger/1 (docs/spec/ledger-format.md section 3), shared by the
// writer that makes it and the verifier that compares it. schema/sql/ledger-1.sql is the same text;
// a test holds the two together.
namespace aasm::sqlite {

inline constexpr std::int64_t kLedgerApplicationId = 0x4153414D;  // "ASAM"
inline constexpr std::int64_t kLedgerUserVersion = 1;

// The whole file schema/sql/ledger-1.sql: execute() it in a new database.
extern const std::string_view kLedgerSql;

// One row of sqlite_schema as ledger-1.sql leaves it. `sql` is empty for automatic indexes.
struct SchemaRow {
  std::string_view type;
  std::string_view name;
  std::string_view table;
  std::string_view sql;
};
extern const std::array<SchemaRow, 5> kLedgerSchemaRows;

enum class SchemaVerdict : std::uint8_t {
  kMatches,
  kNotALedger,    // the application id differs, or the database is empty
  kNewerVersion,  // a user version above ours
  kDifferent,     // any other difference, by a byte
};

struct SchemaFinding {
  SchemaVerdict verdict = SchemaVerdict::kMatches;
  std::string detail;  // for a person, escaped; empty on a match
};

// Compares ids and the text of sqlite_schema, byte for byte and in order. An Error only when it
// could not read: kMalformed when the file is no database at all.
schema::Result<SchemaFinding> check_ledger_schema(Connection& connection);

}  // namespace aasm::sqlite
