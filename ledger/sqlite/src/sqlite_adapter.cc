#include <array>
#include <limits>
#include <new>
#include <utility>

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include "aasm/sqlite/connection.h"

#include "database_path.h"
#include "error_map.h"
#include "native.h"

// The one file that meets SQLiteCpp, which throws: every call is made inside guarded().
namespace aasm::sqlite {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

namespace {

struct OpenDatabase : Native {
  OpenDatabase(const std::string& path, int flags, const char* vfs = "")
      : database(path, flags, 0, vfs) {
    handle = database.getHandle();
  }
  SQLite::Database database;
};

OpenDatabase& database_of(Native& native) {
  // SAFETY: connections are made in this file only, and always from an OpenDatabase.
  return static_cast<OpenDatabase&>(native);
}

Error failure(Native& native, int code) {
  native.extended_code = code;
  return error_for(code, sqlite3_errmsg(native.handle), sqlite3_system_errno(native.handle));
}

int best_code(const SQLite::Exception& thrown) {
  if (thrown.getExtendedErrorCode() > 0) {
    return thrown.getExtendedErrorCode();
  }
  return thrown.getErrorCode() > 0 ? thrown.getErrorCode() : SQLITE_ERROR;
}

// Runs `call` and turns what it throws into an Error. `native` is null while there is no handle.
template <class Call>
auto guarded(Native* native, Call call) -> Result<decltype(call())> {
  try {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
      return {};
    } else {
      return call();
    }
  } catch (const SQLite::Exception& thrown) {
    const int code = best_code(thrown);
    const int os_errno = native == nullptr ? 0 : sqlite3_system_errno(native->handle);
    if (native != nullptr) {
      native->extended_code = code;
    }
    return error_for(code, thrown.what(), os_errno);
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::kResourceExhausted, "out of memory");
  } catch (...) {
    return Error(ErrorCode::kInternal, "SQLiteCpp threw something unexpected");
  }
}

// SQLite prepares the first statement of a text and ignores the rest, and SQLiteCpp does not tell
// where it stopped. Asked only when there is a semicolon with something behind it.
bool has_second_statement(Native& native, const std::string& sql) {
  constexpr const char* kNothing = "; \t\r\n";
  const std::size_t semicolon = sql.find(';');
  if (semicolon == std::string::npos || sql.find_first_not_of(kNothing, semicolon) == sql.npos) {
    return false;
  }
  sqlite3_stmt* first = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(native.handle, sql.c_str(), -1, &first, &rest);
  sqlite3_finalize(first);
  return code == SQLITE_OK && std::string_view(rest).find_first_not_of(kNothing) != sql.npos;
}

int flags_for(OpenMode mode) {
  const bool reads = mode == OpenMode::kReadOnly || mode == OpenMode::kReadUnshared;
  return (reads ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOFOLLOW |
         SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
}

}  // namespace

struct StatementState {
  StatementState(std::shared_ptr<Native> owner, const std::string& sql)
      : native(std::move(owner)), statement(database_of(*native).database, sql) {}

  Result<SQLite::Column> column(int index) const {
    if (!statement.hasRow() || index < 0 || index >= statement.getColumnCount()) {
      return Error(ErrorCode::kInvalidArgument, "no such column, or no row");
    }
    return guarded(native.get(), [&] { return statement.getColumn(index); });
  }
  Result<SQLite::Column> column_of_type(int index, int wanted) const {
    SQLite::Column found = AASM_TRY(column(index));
    if (found.getType() != wanted) {
      return Error(ErrorCode::kMalformed,
                   "column " + std::to_string(index) + " holds another type than expected");
    }
    return found;
  }

  std::shared_ptr<Native> native;  // declared first: the database outlives its statement
  SQLite::Statement statement;
};

struct TransactionState {
  TransactionState(std::shared_ptr<Native> owner, SQLite::TransactionBehavior behavior)
      : native(std::move(owner)), transaction(database_of(*native).database, behavior) {}

  std::shared_ptr<Native> native;
  SQLite::Transaction transaction;
};

// Connection

Connection::Connection(std::shared_ptr<Native> native) : native_(std::move(native)) {}
Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

Result<Connection> Connection::open(const std::string& path, OpenMode mode) {
  const std::string resolved = AASM_TRY(resolve_database_path(path, mode));
  std::shared_ptr<Native> native = AASM_TRY(guarded(nullptr, [&]() -> std::shared_ptr<Native> {
    // Exclusive, so that the index of the WAL is kept in memory: https://sqlite.org/wal.html,
    // "Use of WAL Without Shared-Memory". The lock that takes is one of a VFS that has none.
    const bool unshared = mode == OpenMode::kReadUnshared;
    auto opened =
        std::make_shared<OpenDatabase>(resolved, flags_for(mode), unshared ? "unix-none" : "");
    if (unshared) {
      opened->database.exec("PRAGMA locking_mode=EXCLUSIVE");
    }
    return opened;
  }));
  // SQLite quietly opens a file it may not write for reading.
  if ((flags_for(mode) & SQLITE_OPEN_READONLY) == 0 &&
      sqlite3_db_readonly(native->handle, "main") != 0) {
    return Error(ErrorCode::kPermissionDenied, "the database may only be read: " + resolved);
  }
  return Connection(std::move(native));
}

Result<Connection> Connection::open_memory() {
  return Connection(AASM_TRY(guarded(nullptr, []() -> std::shared_ptr<Native> {
    return std::make_shared<OpenDatabase>(
        ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX);
  })));
}

Result<void> Connection::execute(const std::string& sql) {
  return guarded(native_.get(), [&] { database_of(*native_).database.exec(sql); });
}

Result<Statement> Connection::prepare(const std::string& sql) {
  if (has_second_statement(*native_, sql)) {
    return Error(ErrorCode::kInvalidArgument, "more than one statement");
  }
  return Statement(AASM_TRY(
      guarded(native_.get(), [&] { return std::make_unique<StatementState>(native_, sql); })));
}

Result<std::int64_t> Connection::query_int(const std::string& sql) {
  Statement statement = AASM_TRY(prepare(sql));
  if (!AASM_TRY(statement.step())) {
    return Error(ErrorCode::kNotFound, "the query returned no row");
  }
  const std::int64_t value = AASM_TRY(statement.column_int(0));
  // To its end: what a pragma changes is written there, and may fail there.
  AASM_TRY(statement.run());
  return value;
}

Result<std::string> Connection::query_text(const std::string& sql) {
  Statement statement = AASM_TRY(prepare(sql));
  if (!AASM_TRY(statement.step())) {
    return Error(ErrorCode::kNotFound, "the query returned no row");
  }
  std::string value(AASM_TRY(statement.column_text(0)));
  AASM_TRY(statement.run());
  return value;
}

Result<Transaction> Connection::begin_immediate() {
  return Transaction(AASM_TRY(guarded(native_.get(), [&] {
    return std::make_unique<TransactionState>(native_, SQLite::TransactionBehavior::IMMEDIATE);
  })));
}

Result<Transaction> Connection::begin_deferred() {
  return Transaction(AASM_TRY(guarded(native_.get(), [&] {
    return std::make_unique<TransactionState>(native_, SQLite::TransactionBehavior::DEFERRED);
  })));
}

Result<void> Connection::set_busy_timeout(std::chrono::milliseconds timeout) {
  if (timeout.count() < 0 || timeout.count() > std::numeric_limits<int>::max()) {
    return Error(ErrorCode::kInvalidArgument, "busy timeout out of range");
  }
  return guarded(native_.get(), [&] {
    database_of(*native_).database.setBusyTimeout(static_cast<int>(timeout.count()));
  });
}

Result<void> Connection::keep_wal_on_close() {
  int persist = 1;
  int code = sqlite3_file_control(native_->handle, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
  if (code == SQLITE_OK) {
    code = sqlite3_db_config(native_->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  if (code != SQLITE_OK) {
    return failure(*native_, code);
  }
  return {};
}

std::int64_t Connection::changes() const {
  return sqlite3_changes64(native_->handle);
}
std::uint32_t Connection::pages_written() const {
  int written = 0;
  int unused = 0;
  sqlite3_db_status(native_->handle, SQLITE_DBSTATUS_CACHE_WRITE, &written, &unused, 0);
  return static_cast<std::uint32_t>(written);
}
int Connection::extended_code() const {
  return native_->extended_code;
}

// Statement

Statement::Statement(std::unique_ptr<StatementState> state) : state_(std::move(state)) {}
Statement::~Statement() = default;
Statement::Statement(Statement&&) noexcept = default;
Statement& Statement::operator=(Statement&&) noexcept = default;

Result<void> Statement::bind_int(int index, std::int64_t value) {
  return guarded(state_->native.get(), [&] { state_->statement.bind(index, value); });
}

Result<void> Statement::bind_text(int index, std::string_view value) {
  return guarded(state_->native.get(), [&] { state_->statement.bind(index, std::string(value)); });
}

Result<void> Statement::bind_blob(int index, schema::ByteView value) {
  if (value.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return Error(ErrorCode::kResourceExhausted, "blob too large");
  }
  // SQLite binds NULL for a null pointer, which is what an empty container hands out.
  static constexpr std::uint8_t kNothing = 0;
  const void* data = value.empty() ? &kNothing : value.data();
  return guarded(state_->native.get(),
                 [&] { state_->statement.bind(index, data, static_cast<int>(value.size())); });
}

Result<void> Statement::bind_null(int index) {
  return guarded(state_->native.get(), [&] { state_->statement.bind(index); });
}

Result<bool> Statement::step() {
  const int code = state_->statement.tryExecuteStep();
  if (code == SQLITE_ROW || code == SQLITE_DONE) {
    return code == SQLITE_ROW;
  }
  const int extended = sqlite3_extended_errcode(state_->native->handle);
  // A call that never reached SQLite (a finished statement) has left no code with the connection.
  return failure(*state_->native, (extended & 0xff) == (code & 0xff) ? extended : code);
}

Result<void> Statement::run() {
  while (AASM_TRY(step())) {
  }
  return reset();
}

Result<void> Statement::reset() {
  // Its code repeats the failure of the last step(), which step() has reported.
  static_cast<void>(state_->statement.tryReset());
  return {};
}

int Statement::num_columns() const {
  return state_->statement.getColumnCount();
}

Result<ColumnType> Statement::column_type(int column) const {
  switch (AASM_TRY(state_->column(column)).getType()) {
    case SQLITE_INTEGER:
      return ColumnType::kInteger;
    case SQLITE_FLOAT:
      return ColumnType::kReal;
    case SQLITE_TEXT:
      return ColumnType::kText;
    case SQLITE_BLOB:
      return ColumnType::kBlob;
    default:  // the five types are all there are; SQLITE_NULL is the fifth
      return ColumnType::kNull;
  }
}

Result<std::int64_t> Statement::column_int(int column) const {
  return AASM_TRY(state_->column_of_type(column, SQLITE_INTEGER)).getInt64();
}

Result<std::string_view> Statement::column_text(int column) const {
  const SQLite::Column value = AASM_TRY(state_->column_of_type(column, SQLITE_TEXT));
  const char* text = value.getText();  // before the size: sqlite3_column_bytes() may convert
  return std::string_view(text, static_cast<std::size_t>(value.getBytes()));
}

Result<schema::ByteView> Statement::column_blob(int column) const {
  const SQLite::Column value = AASM_TRY(state_->column_of_type(column, SQLITE_BLOB));
  const void* data = value.getBlob();  // null for a blob of no bytes
  if (data == nullptr) {
    return schema::ByteView{};
  }
  return schema::ByteView(static_cast<const std::uint8_t*>(data),
                          static_cast<std::size_t>(value.getBytes()));
}

std::string_view Statement::column_name(int column) const {
  if (column < 0 || column >= num_columns()) {
    return {};
  }
  const Result<const char*> name =
      guarded(state_->native.get(), [&] { return state_->statement.getColumnName(column); });
  return name.has_value() && *name != nullptr ? std::string_view(*name) : std::string_view();
}

// Transaction

Transaction::Transaction(std::unique_ptr<TransactionState> state) : state_(std::move(state)) {}
Transaction::~Transaction() = default;
Transaction::Transaction(Transaction&&) noexcept = default;
Transaction& Transaction::operator=(Transaction&&) noexcept = default;

Result<void> Transaction::commit() {
  return guarded(state_->native.get(), [&] { state_->transaction.commit(); });
}

}  // namespace aasm::sqlite
