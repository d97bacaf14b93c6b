#include "salvage.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "aasm/schema/error.h"
#include "aasm/schema/result.h"
#include "aasm/sqlite/statement.h"

#include "open_hostile.h"

namespace aasm::verifier {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using sqlite::ColumnType;
using sqlite::Statement;

// `make` is without the constraints of the format: a damaged row may break them all, and the walk
// judges it. A key that is NULL is equal to none.
struct Table {
  const char* make;
  const char* select;
  const char* insert;
  int columns;
};

constexpr std::array<Table, 4> kTables = {{
    {"CREATE TABLE records(seq INTEGER PRIMARY KEY,prev,leaf,payload,keyid,sig)",
     "SELECT seq,prev,leaf,payload,keyid,sig FROM records NOT INDEXED ORDER BY seq",
     "INSERT OR IGNORE INTO records VALUES(?1,?2,?3,?4,?5,?6)", 6},
    {"CREATE TABLE checkpoints(size INTEGER PRIMARY KEY,note,frontier)",
     "SELECT size,note,frontier FROM checkpoints ORDER BY size",
     "INSERT OR IGNORE INTO checkpoints VALUES(?1,?2,?3)", 3},
    {"CREATE TABLE blobs(sha256 UNIQUE,salt,data)",
     "SELECT sha256,salt,data FROM blobs ORDER BY sha256",
     "INSERT OR IGNORE INTO blobs VALUES(?1,?2,?3)", 3},
    {"CREATE TABLE anchors(size,sink,receipt,UNIQUE(size,sink))",
     "SELECT size,sink,receipt FROM anchors ORDER BY size,sink",
     "INSERT OR IGNORE INTO anchors VALUES(?1,?2,?3)", 3},
}};

Result<void> copy_value(const Statement& from, int column, Statement& to) {
  const int index = column + 1;
  switch (AASM_TRY(from.column_type(column))) {
    case ColumnType::kInteger:
      return to.bind_int(index, AASM_TRY(from.column_int(column)));
    case ColumnType::kText:
      return to.bind_text(index, AASM_TRY(from.column_text(column)));
    case ColumnType::kBlob:
      return to.bind_blob(index, AASM_TRY(from.column_blob(column)));
    case ColumnType::kNull:
      return to.bind_null(index);
    case ColumnType::kReal:
      return to.bind_int(index, 0);  // no column is a number that may be 0: another type, as it was
  }
  return {};
}

class Salvage {
 public:
  Salvage(sqlite::Connection& ledger, sqlite::Connection& kept) : ledger_(ledger), kept_(kept) {}

  // What ended the reading, if it was not the end of the table. An Error is one of writing.
  Result<std::optional<Error>> copy(const Table& table) {
    AASM_TRY(kept_.execute(table.make));
    Statement insert = AASM_TRY(kept_.prepare(table.insert));
    Result<Statement> rows = ledger_.prepare(table.select);
    if (!rows) {
      return std::optional(rows.error());
    }
    while (true) {
      const Result<bool> more = next(*rows, insert, table.columns);
      if (!more) {
        return std::optional(more.error());
      }
      if (!*more) {
        return std::optional<Error>();
      }
      AASM_TRY(insert.run());
    }
  }

 private:
  // Binds the next row. False at the end.
  static Result<bool> next(Statement& rows, Statement& insert, int columns) {
    if (!AASM_TRY(rows.step())) {
      return false;
    }
    for (int column = 0; column < columns; ++column) {
      AASM_TRY(copy_value(rows, column, insert));
    }
    return true;
  }

  sqlite::Connection& ledger_;
  sqlite::Connection& kept_;
};

}  // namespace

bool salvage(sqlite::Connection& ledger, sqlite::Connection& kept, FindingLog& findings) {
  Salvage salvage(ledger, kept);
  for (const Table& table : kTables) {
    const Result<std::optional<Error>> broken = salvage.copy(table);
    if (!broken) {
      findings.add(FindingCode::kScratchUnusable, -1, {.detail = broken.error().message()});
      return false;
    }
    if (!*broken) {
      continue;
    }
    add_database_error(findings, **broken);
    if ((*broken)->code() != ErrorCode::kIntegrity) {
      return false;  // not the file's damage: the same file may give more another time
    }
  }
  return true;
}

}  // namespace aasm::verifier
