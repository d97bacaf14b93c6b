#include "open_hostile.h"

#include <utility>
#include <vector>

#include "aasm/sqlite/harden.h"
#include "aasm/sqlite/ledger_schema.h"

namespace aasm::verifier {
namespace {

using schema::ErrorCode;
using schema::Result;

constexpr int kMaxIntegrityFindings = 20;

// True when the tables can be read as those of a ledger.
Result<bool> schema_holds(sqlite::Connection& connection, FindingLog& findings) {
  const sqlite::SchemaFinding found = AASM_TRY(sqlite::check_ledger_schema(connection));
  switch (found.verdict) {
    case sqlite::SchemaVerdict::kMatches:
      return true;
    case sqlite::SchemaVerdict::kNotALedger:
      findings.add(FindingCode::kTargetNotRecognised, -1, {.detail = found.detail});
      return false;
    case sqlite::SchemaVerdict::kNewerVersion:
      findings.add(FindingCode::kSchemaNewer, -1, {.detail = found.detail});
      return false;
    case sqlite::SchemaVerdict::kDifferent:
      findings.add(FindingCode::kSchemaDifferent, -1, {.detail = found.detail});
      return false;
  }
  return false;
}

// A check that the damage itself ends has found it.
Result<bool> is_sound(sqlite::Connection& connection, FindingLog& findings) {
  const Result<std::vector<std::string>> damage =
      sqlite::integrity_check(connection, kMaxIntegrityFindings);
  if (!damage && damage.error().code() == ErrorCode::kIntegrity) {
    add_database_error(findings, damage.error());
    return false;
  }
  if (!damage) {
    return damage.error();
  }
  for (const std::string& sentence : *damage) {
    findings.add(FindingCode::kDatabaseCorrupt, -1,
                 {.expected = "integrity_check: ok", .actual = sentence});
  }
  return damage->empty();
}

Result<Soundness> prepare(sqlite::Connection& connection, FindingLog& findings) {
  if (!AASM_TRY(schema_holds(connection, findings))) {
    return Soundness::kUnusable;
  }
  const bool sound = AASM_TRY(is_sound(connection, findings));
  AASM_TRY(sqlite::allow_only(connection, sqlite::ledger_tables()));
  return sound ? Soundness::kSound : Soundness::kDamaged;
}

}  // namespace

void add_database_error(FindingLog& findings, const schema::Error& error) {
  FindingCode code = FindingCode::kDatabaseUnreadable;
  if (error.code() == ErrorCode::kIntegrity) {
    code = FindingCode::kDatabaseCorrupt;
  } else if (error.code() == ErrorCode::kMalformed) {
    code = FindingCode::kTargetNotRecognised;
  } else if (error.code() == ErrorCode::kResourceExhausted) {
    code = FindingCode::kLimitReached;
  }
  findings.add(code, -1, {.detail = error.message()});
}

// The copy is opened for writing, because a WAL or a hot journal must be replayed into it; it is
// our own, and keep_wal_on_close() spares folding the WAL in the end.
Result<sqlite::Connection> open_hostile(const std::string& path) {
  sqlite::Connection connection =
      AASM_TRY(sqlite::Connection::open(path, sqlite::OpenMode::kReadWrite));
  AASM_TRY(sqlite::harden(connection, sqlite::ReadLimits{}));
  AASM_TRY(connection.keep_wal_on_close());
  AASM_TRY(connection.execute("PRAGMA cache_size=-4096"));
  AASM_TRY(connection.query_int("PRAGMA schema_version"));
  return connection;
}

Soundness prepare_hostile(sqlite::Connection& connection, FindingLog& findings) {
  const Result<Soundness> ready = prepare(connection, findings);
  if (!ready) {
    add_database_error(findings, ready.error());
    return Soundness::kUnusable;
  }
  return *ready;
}

}  // namespace aasm::verifier
