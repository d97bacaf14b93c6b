#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

// Reading a database file that nobody vouches for (docs/spec/ledger-format.md section 9, step 2).
// The order of use: open, harden(), compare ids and schema text (ledger_schema.h),
// integrity_check(), allow_only(), then the scan.
namespace aasm::sqlite {

struct ReadLimits {
  // Of one value or row; larger ones fail as kResourceExhausted. Blobs of a ledger are at most
  // 1 MiB.
  int max_value_bytes = 4 * 1024 * 1024;
  int max_sql_bytes = 64 * 1024;
  // How long after harden() statements stop with kResourceExhausted; zero means no deadline.
  std::chrono::milliseconds deadline{0};
};

// Before the first statement on the connection: trusted schema, views, triggers, extensions and
// memory mapping off, defensive mode and cell size checks on, temporary data in memory, limits on
// sizes and on the complexity of statements, no ATTACH, and the deadline, counted from now.
schema::Result<void> harden(Connection& connection, const ReadLimits& limits);

// Whether the deadline of harden() has passed: tells it from other kinds of kResourceExhausted.
bool deadline_passed(const Connection& connection);

// What statements may do once allow_only() is in force.
struct Allowance {
  std::vector<std::string> tables;     // SELECT and READ on these, of database "main"
  std::vector<std::string> functions;  // lower case, "count"
  bool transactions = false;           // BEGIN, COMMIT and ROLLBACK
};

// The four tables of a ledger, nothing else.
Allowance ledger_tables();

// From now on the connection prepares nothing but what `allowance` lists; anything else is
// kPermissionDenied. Pragmas are refused too, so integrity_check() comes first. It cannot be
// widened later: a second call is kInvalidArgument.
schema::Result<void> allow_only(Connection& connection, Allowance allowance);

// The findings of PRAGMA integrity_check, escaped for display, at most `max_findings`; empty when
// it said "ok". The deadline is looked at between steps, not inside one b-tree walk.
schema::Result<std::vector<std::string>> integrity_check(Connection& connection, int max_findings);

// Caps the memory of SQLite in this whole process, for good (sqlite3_hard_heap_limit64): for a
// program that reads hostile files, at its start. Statements past it fail as kResourceExhausted.
void set_process_heap_limit(std::int64_t bytes);

}  // namespace aasm::sqlite
