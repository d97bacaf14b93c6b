#pragma once

#include <cstdint>

#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/statement.h"

// Reading columns of a ledger, whose CHECK constraints are not taken for granted.
namespace aasm::ledger {

// Fails unless the database has the schema of format ledger/1: kMalformed (no ledger),
// kUnsupported (newer) or kIntegrity (another).
schema::Result<void> require_ledger_schema(sqlite::Connection& connection);

// A blob column that must have `size` bytes.
template <class T>
schema::Result<T> fixed_column(const sqlite::Statement& row, int column) {
  schema::Result<T> value = T::from_span(AASM_TRY(row.column_blob(column)));
  if (!value) {
    return schema::Error(schema::ErrorCode::kIntegrity, "a hash in the ledger has not 32 bytes");
  }
  return value;
}

inline schema::Result<std::uint64_t> unsigned_column(const sqlite::Statement& row, int column) {
  const std::int64_t value = AASM_TRY(row.column_int(column));
  if (value < 0) {
    return schema::Error(schema::ErrorCode::kIntegrity, "a number in the ledger is negative");
  }
  return static_cast<std::uint64_t>(value);
}

// A statement left on a row would keep its read snapshot, and the next transaction could not write.
class ResetOnExit {
 public:
  explicit ResetOnExit(sqlite::Statement& statement) : statement_(statement) {}
  ~ResetOnExit() { static_cast<void>(statement_.reset()); }
  ResetOnExit(const ResetOnExit&) = delete;
  ResetOnExit& operator=(const ResetOnExit&) = delete;

 private:
  sqlite::Statement& statement_;
};

}  // namespace aasm::ledger
