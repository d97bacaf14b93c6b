#include "aasm/sqlite/ledger_schema.h"

#include "aasm/schema/utf8.h"

namespace aasm::sqlite {
namespace {

using schema::Result;

constexpr std::string_view kScript =
    R"sql(PRAGMA application_id=0x4153414D; PRAGMA user_version=1;
CREATE TABLE records(seq INTEGER PRIMARY KEY, prev BLOB NOT NULL UNIQUE CHECK(length(prev)=32),
  leaf BLOB NOT NULL CHECK(length(leaf)=32), payload BLOB NOT NULL CHECK(length(payload)<=65000),
  keyid BLOB NOT NULL CHECK(length(keyid)=32), sig BLOB NOT NULL CHECK(length(sig)=64)) STRICT;
CREATE TABLE blobs(sha256 BLOB PRIMARY KEY CHECK(length(sha256)=32), salt BLOB, data BLOB) STRICT, WITHOUT ROWID;
CREATE TABLE checkpoints(size INTEGER PRIMARY KEY, note BLOB NOT NULL, frontier BLOB NOT NULL) STRICT;
CREATE TABLE anchors(size INTEGER NOT NULL, sink TEXT NOT NULL, receipt BLOB NOT NULL, PRIMARY KEY(size,sink)) STRICT, WITHOUT ROWID;
)sql";

// A statement of the script without its semicolon, as sqlite_schema keeps it.
constexpr std::string_view create_text(std::string_view beginning) {
  const std::size_t begin = kScript.find(beginning);
  return kScript.substr(begin, kScript.find(';', begin) - begin);
}

SchemaFinding finding(SchemaVerdict verdict, std::string detail) {
  return {verdict, std::move(detail)};
}

Result<SchemaFinding> check_ids(Connection& connection) {
  const std::int64_t id = AASM_TRY(connection.query_int("PRAGMA application_id"));
  const std::int64_t version = AASM_TRY(connection.query_int("PRAGMA user_version"));
  if (id != kLedgerApplicationId) {
    return finding(SchemaVerdict::kNotALedger, "the application id is not a ledger's");
  }
  if (version > kLedgerUserVersion) {
    return finding(SchemaVerdict::kNewerVersion,
                   "schema version " + std::to_string(version) + " is newer than this program");
  }
  if (version != kLedgerUserVersion) {
    return finding(SchemaVerdict::kDifferent, "schema version " + std::to_string(version));
  }
  return SchemaFinding{};
}

// Whether a text column equals `wanted`; NULL stands for the empty text of an automatic index.
Result<bool> column_is(const Statement& row, int column, std::string_view wanted) {
  const ColumnType type = AASM_TRY(row.column_type(column));
  if (type == ColumnType::kNull) {
    return wanted.empty();
  }
  if (type != ColumnType::kText) {
    return false;
  }
  return !wanted.empty() && AASM_TRY(row.column_text(column)) == wanted;
}

Result<bool> row_is(const Statement& row, const SchemaRow& wanted) {
  return AASM_TRY(column_is(row, 0, wanted.type)) && AASM_TRY(column_is(row, 1, wanted.name)) &&
         AASM_TRY(column_is(row, 2, wanted.table)) && AASM_TRY(column_is(row, 3, wanted.sql));
}

}  // namespace

const std::string_view kLedgerSql = kScript;

const std::array<SchemaRow, 5> kLedgerSchemaRows = {{
    {"table", "records", "records", create_text("CREATE TABLE records(")},
    {"index", "sqlite_autoindex_records_1", "records", ""},
    {"table", "blobs", "blobs", create_text("CREATE TABLE blobs(")},
    {"table", "checkpoints", "checkpoints", create_text("CREATE TABLE checkpoints(")},
    {"table", "anchors", "anchors", create_text("CREATE TABLE anchors(")},
}};

Result<SchemaFinding> check_ledger_schema(Connection& connection) {
  SchemaFinding ids = AASM_TRY(check_ids(connection));
  if (ids.verdict != SchemaVerdict::kMatches) {
    return ids;
  }
  Statement rows = AASM_TRY(
      connection.prepare("SELECT type,name,tbl_name,sql FROM sqlite_schema ORDER BY rowid"));
  for (const SchemaRow& wanted : kLedgerSchemaRows) {
    if (!AASM_TRY(rows.step())) {
      return finding(SchemaVerdict::kDifferent,
                     std::string(wanted.type) + " " + std::string(wanted.name) + " is missing");
    }
    if (!AASM_TRY(row_is(rows, wanted))) {
      return finding(SchemaVerdict::kDifferent, std::string(wanted.type) + " " +
                                                    std::string(wanted.name) +
                                                    " is not the one of this format");
    }
  }
  if (AASM_TRY(rows.step())) {
    return finding(SchemaVerdict::kDifferent, "the schema has more than the format's tables");
  }
  return SchemaFinding{};
}

}  // namespace aasm::sqlite
