#include "row_columns.h"

#include "aasm/sqlite/ledger_schema.h"

namespace aasm::ledger {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Result<void> require_ledger_schema(sqlite::Connection& connection) {
  const sqlite::SchemaFinding found = AASM_TRY(sqlite::check_ledger_schema(connection));
  switch (found.verdict) {
    case sqlite::SchemaVerdict::kMatches:
      return {};
    case sqlite::SchemaVerdict::kNotALedger:
      return Error(ErrorCode::kMalformed, "not a ledger: " + found.detail);
    case sqlite::SchemaVerdict::kNewerVersion:
      return Error(ErrorCode::kUnsupported, found.detail);
    case sqlite::SchemaVerdict::kDifferent:
      return Error(ErrorCode::kIntegrity, found.detail);
  }
  return Error(ErrorCode::kInternal, "unknown schema verdict");
}

}  // namespace aasm::ledger
