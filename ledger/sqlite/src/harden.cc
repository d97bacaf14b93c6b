#include "aasm/sqlite/harden.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "aasm/schema/utf8.h"

#include "error_map.h"
#include "native.h"

namespace aasm::sqlite {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Virtual machine instructions between two looks at the clock: some ten microseconds.
constexpr int kProgressInterval = 1000;

// Small enough that no statement of ours comes near, and no hostile schema gets far.
constexpr std::array<std::pair<int, int>, 9> kComplexityLimits = {{
    {SQLITE_LIMIT_COLUMN, 64},
    {SQLITE_LIMIT_EXPR_DEPTH, 64},
    {SQLITE_LIMIT_COMPOUND_SELECT, 4},
    {SQLITE_LIMIT_VDBE_OP, 100000},
    {SQLITE_LIMIT_FUNCTION_ARG, 8},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 128},
    {SQLITE_LIMIT_VARIABLE_NUMBER, 32},
    {SQLITE_LIMIT_WORKER_THREADS, 0},
}};

constexpr std::array<std::pair<int, int>, 5> kSwitches = {{
    {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
    {SQLITE_DBCONFIG_DEFENSIVE, 1},
    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
    {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
}};

Error failure(Native& native, int code) {
  native.extended_code = code;
  return error_for(code, sqlite3_errmsg(native.handle), 0);
}

Result<void> set_switches(Native& native) {
  for (const auto& [option, wanted] : kSwitches) {
    int now = -1;
    const int code = sqlite3_db_config(native.handle, option, wanted, &now);
    if (code != SQLITE_OK) {
      return failure(native, code);
    }
    if (now != wanted) {
      return Error(ErrorCode::kUnsupported, "this SQLite cannot be hardened");
    }
  }
  return {};
}

void set_limits(Native& native, const ReadLimits& limits) {
  for (const auto& [limit, value] : kComplexityLimits) {
    sqlite3_limit(native.handle, limit, value);
  }
  sqlite3_limit(native.handle, SQLITE_LIMIT_LENGTH, limits.max_value_bytes);
  sqlite3_limit(native.handle, SQLITE_LIMIT_SQL_LENGTH, limits.max_sql_bytes);
}

int on_progress(void* context) {
  const auto* guard = static_cast<const ReadGuard*>(context);
  return guard->deadline && std::chrono::steady_clock::now() >= *guard->deadline ? 1 : 0;
}

bool contains(const std::vector<std::string>& names, const char* name) {
  return name != nullptr && std::find(names.begin(), names.end(), name) != names.end();
}

bool allows(const Allowance& allowance, int action, const char* first, const char* second,
            const char* database) {
  switch (action) {
    case SQLITE_SELECT:
      return true;
    case SQLITE_READ:
      // A table of which no column is read, as in count(*), is asked for without its database.
      return contains(allowance.tables, first) &&
             (database == nullptr || std::string_view(database) == "main");
    case SQLITE_FUNCTION:
      return contains(allowance.functions, second);
    case SQLITE_TRANSACTION:
      return allowance.transactions;
    default:  // every other action, those of later SQLite versions too
      return false;
  }
}

int on_authorize(void* context, int action, const char* first, const char* second,
                 const char* database, const char* /*trigger*/) {
  const auto* guard = static_cast<const ReadGuard*>(context);
  const bool allowed =
      guard->allowance && allows(*guard->allowance, action, first, second, database);
  return allowed ? SQLITE_OK : SQLITE_DENY;
}

}  // namespace

Result<void> harden(Connection& connection, const ReadLimits& limits) {
  Native& native = NativeAccess::of(connection);
  AASM_TRY(set_switches(native));
  set_limits(native, limits);
  if (limits.deadline.count() > 0) {
    native.guard.deadline = std::chrono::steady_clock::now() + limits.deadline;
    sqlite3_progress_handler(native.handle, kProgressInterval, on_progress, &native.guard);
  }
  return connection.execute(
      "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY");
}

bool deadline_passed(const Connection& connection) {
  const ReadGuard& guard = NativeAccess::of(connection).guard;
  return guard.deadline && std::chrono::steady_clock::now() >= *guard.deadline;
}

Allowance ledger_tables() {
  return {{"records", "blobs", "checkpoints", "anchors"}, {}, false};
}

Result<void> allow_only(Connection& connection, Allowance allowance) {
  Native& native = NativeAccess::of(connection);
  if (native.guard.allowance) {
    return Error(ErrorCode::kInvalidArgument, "the connection is already restricted");
  }
  native.guard.allowance = std::move(allowance);
  const int code = sqlite3_set_authorizer(native.handle, on_authorize, &native.guard);
  if (code != SQLITE_OK) {
    return failure(native, code);
  }
  return {};
}

Result<std::vector<std::string>> integrity_check(Connection& connection, int max_findings) {
  if (max_findings < 1) {
    return Error(ErrorCode::kInvalidArgument, "at least one finding must be asked for");
  }
  Statement statement =
      AASM_TRY(connection.prepare("PRAGMA integrity_check(" + std::to_string(max_findings) + ")"));
  std::vector<std::string> findings;
  while (AASM_TRY(statement.step())) {
    const std::string_view text = AASM_TRY(statement.column_text(0));
    if (text != "ok") {
      findings.push_back(schema::escape_for_display(text));
    }
  }
  return findings;
}

void set_process_heap_limit(std::int64_t bytes) {
  static_cast<void>(sqlite3_hard_heap_limit64(bytes));
}

}  // namespace aasm::sqlite
