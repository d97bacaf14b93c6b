#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "aasm/schema/result.h"
#include "aasm/sqlite/statement.h"
#include "aasm/sqlite/transaction.h"

namespace aasm::sqlite {

struct Native;

// SQLite's own limit is 512, of which the longest name beside the database takes a part.
inline constexpr std::size_t kMaxPathBytes = 500;

enum class OpenMode : std::uint8_t {
  // Makes the file (mode 0600) and opens it for reading and writing. kConflict when anything of
  // that name exists, a dangling symbolic link included.
  kCreateNew,
  // Opens an existing file for reading and writing. kNotFound when there is none,
  // kPermissionDenied when it may only be read: it never falls back to reading.
  kReadWrite,
  // Opens an existing file for reading. A database in WAL mode then still needs its -shm file, or
  // a directory where one can be made.
  kReadOnly,
  // Opens a file that nothing writes for reading, its WAL included: without locks, in a directory
  // that may be read-only, and making nothing beside it. Under a writer its answers are wrong.
  kReadUnshared,
};

// A connection to one SQLite database file. Owned by one thread at a time; movable. Statements and
// transactions keep what they need alive, so the order of destruction is free.
//
// Opening reads nothing of the file: an empty file is a valid empty database, and any other file
// fails at the first statement (kMalformed "file is not a database"). The last component must be a
// regular file and no symbolic link; links in the directory part are followed first.
//
// Failures carry SQLite's extended result code in the message and in extended_code(). The codes:
// busy and locked are kUnavailable, as are I/O errors; full disk, size and memory limits, and an
// interrupted statement (deadline) kResourceExhausted; a violated constraint kConflict; a read-only
// file or an authorizer's refusal kPermissionDenied; a corrupt file kIntegrity; no database
// kMalformed; a statement that does not fit the database kInvalidArgument. os_errno() is set where
// a system call failed.
class Connection {
 public:
  static schema::Result<Connection> open(const std::string& path, OpenMode mode);
  // A private database in memory, gone with the connection.
  static schema::Result<Connection> open_memory();

  ~Connection();
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Runs one or more statements; rows they return are dropped.
  schema::Result<void> execute(const std::string& sql);
  // Prepares the first statement of `sql`; anything after it is kInvalidArgument.
  schema::Result<Statement> prepare(const std::string& sql);
  // The one row, one column answer of a query, for pragmas and counts. kNotFound without a row.
  schema::Result<std::int64_t> query_int(const std::string& sql);
  schema::Result<std::string> query_text(const std::string& sql);

  // BEGIN IMMEDIATE: takes the write lock now, waiting for at most the busy timeout.
  schema::Result<Transaction> begin_immediate();
  // BEGIN: a read snapshot that starts with the first SELECT.
  schema::Result<Transaction> begin_deferred();

  // How long a statement waits for another connection's lock; zero at first.
  schema::Result<void> set_busy_timeout(std::chrono::milliseconds timeout);
  // Leaves -wal and -shm in place, and the WAL unfolded, when the last connection closes.
  schema::Result<void> keep_wal_on_close();

  // Rows changed by the last INSERT, UPDATE or DELETE that finished.
  std::int64_t changes() const;
  // Pages this connection wrote to the file or its WAL since it was opened; wraps around.
  std::uint32_t pages_written() const;
  // Extended result code of the most recent failure on this connection; 0 before the first.
  int extended_code() const;

 private:
  friend struct NativeAccess;  // src/native.h: the other sources of this module
  explicit Connection(std::shared_ptr<Native> native);

  std::shared_ptr<Native> native_;
};

}  // namespace aasm::sqlite
