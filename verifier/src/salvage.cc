#include "salvage.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
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
// judges it.
struct Table {
  const char* make;
  const char* select;
  const char* insert;
  int columns;
  int keys;  // how many of them, the first, are the key
};

constexpr std::array<Table, 4> kTables = {{
    {"CREATE TABLE records(seq INTEGER PRIMARY KEY,prev,leaf,payload,keyid,sig)",
     "SELECT seq,prev,leaf,payload,keyid,sig FROM records NOT INDEXED ORDER BY seq",
     "INSERT OR IGNORE INTO records VALUES(?1,?2,?3,?4,?5,?6)", 6, 1},
    {"CREATE TABLE checkpoints(size INTEGER PRIMARY KEY,note,frontier)",
     "SELECT size,note,frontier FROM checkpoints ORDER BY size",
     "INSERT OR IGNORE INTO checkpoints VALUES(?1,?2,?3)", 3, 1},
    {"CREATE TABLE blobs(sha256 UNIQUE,salt,data)",
     "SELECT sha256,salt,data FROM blobs ORDER BY sha256",
     "INSERT OR IGNORE INTO blobs VALUES(?1,?2,?3)", 3, 1},
    {"CREATE TABLE anchors(size,sink,receipt,UNIQUE(size,sink))",
     "SELECT size,sink,receipt FROM anchors ORDER BY size,sink",
     "INSERT OR IGNORE INTO anchors VALUES(?1,?2,?3)", 3, 2},
}};

// Its length. NULL in place of a key would be equal to none, and rows without end could be kept.
Result<std::size_t> copy_value(const Statement& from, int column, bool key, Statement& to) {
  const int index = column + 1;
  switch (AASM_TRY(from.column_type(column))) {
    case ColumnType::kInteger: {
      const std::int64_t number = AASM_TRY(from.column_int(column));
      AASM_TRY(to.bind_int(index, number));
      return std::size_t{0};
    }
    case ColumnType::kText: {
      const std::string_view text = AASM_TRY(from.column_text(column));
      AASM_TRY(to.bind_text(index, text));
      return text.size();
    }
    case ColumnType::kBlob: {
      const schema::ByteView bytes = AASM_TRY(from.column_blob(column));
      AASM_TRY(to.bind_blob(index, bytes));
      return bytes.size();
    }
    case ColumnType::kNull:
      AASM_TRY(key ? to.bind_int(index, 0) : to.bind_null(index));
      return std::size_t{0};
    case ColumnType::kReal:  // no column may hold one: another wrong type says the same
      AASM_TRY(to.bind_int(index, 0));
      return std::size_t{0};
  }
  return std::size_t{0};
}

class Salvage {
 public:
  Salvage(sqlite::Connection& ledger, sqlite::Connection& kept, std::uint64_t max_bytes)
      : ledger_(ledger), kept_(kept), max_bytes_(max_bytes) {}

  // What ended the reading, if it was not the end of the table. An Error is one of writing.
  Result<std::optional<Error>> copy(const Table& table) {
    AASM_TRY(kept_.execute(table.make));
    Statement insert = AASM_TRY(kept_.prepare(table.insert));
    Result<Statement> rows = ledger_.prepare(table.select);
    if (!rows) {
      return std::optional(rows.error());
    }
    while (true) {
      const Result<std::optional<std::size_t>> bytes = next(*rows, insert, table);
      if (!bytes) {
        return std::optional(bytes.error());
      }
      if (!*bytes) {
        return std::optional<Error>();
      }
      AASM_TRY(insert.run());
      kept_bytes_ += kept_.changes() > 0 ? **bytes : 0;
      if (kept_bytes_ > max_bytes_) {
        return std::optional(too_much());
      }
    }
  }

 private:
  // Binds the next row: how many bytes it has, or nullopt at the end.
  static Result<std::optional<std::size_t>> next(Statement& rows, Statement& insert,
                                                 const Table& table) {
    if (!AASM_TRY(rows.step())) {
      return std::optional<std::size_t>();
    }
    std::size_t bytes = 0;
    for (int column = 0; column < table.columns; ++column) {
      bytes += AASM_TRY(copy_value(rows, column, column < table.keys, insert));
    }
    return std::optional(bytes);
  }
  Error too_much() const {
    return {ErrorCode::kResourceExhausted,
            "the rows of a damaged file pass " + std::to_string(max_bytes_) + " bytes"};
  }

  sqlite::Connection& ledger_;
  sqlite::Connection& kept_;
  std::uint64_t max_bytes_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace

bool salvage(sqlite::Connection& ledger, sqlite::Connection& kept, std::uint64_t max_bytes,
             FindingLog& findings) {
  Salvage salvage(ledger, kept, max_bytes);
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
