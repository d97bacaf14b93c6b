#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger/pending_record.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"
#include "aasm/sqlite/connection.h"

namespace aasm::ledger {

// The rows of a ledger as the writer sees them. Views are valid inside the visitor only.
struct RecordRow {
  std::uint64_t seq = 0;
  schema::LeafHash prev;
  schema::LeafHash leaf;  // the column; recomputed_leaf() is what counts
  std::string_view payload;

  schema::LeafHash recomputed_leaf() const;
};

struct CheckpointRow {
  std::uint64_t size = 0;
  std::string note;
  schema::Bytes frontier;
};

struct NewRecord {
  std::uint64_t seq = 0;
  schema::LeafHash prev;
  schema::LeafHash leaf;
  std::string_view payload;
  schema::KeyId key;
  crypto::Signature signature{};
};

// The writer's connection and its prepared statements. Same thread rule as the connection.
class LedgerDb {
 public:
  // Opens for reading and writing, hardened against what a damaged file could make SQLite do, and
  // asserts WAL with synchronous=FULL. A file of another schema is kMalformed (no ledger),
  // kUnsupported (newer) or kIntegrity.
  static schema::Result<LedgerDb> open(const std::string& path);
  // Makes a file with the schema, for filling under a temporary name: nothing is synced or
  // journaled, the caller syncs the finished file before it gets its name.
  static schema::Result<LedgerDb> create(const std::string& path);

  schema::Result<sqlite::Transaction> begin() { return connection_.begin_immediate(); }
  sqlite::Connection& connection() { return connection_; }

  // After a commit: empties a WAL that one large commit has grown, so that the next open does not
  // have to read it back. Looks at its size at first and then whenever this connection has written
  // as much as a WAL holds between two foldings. Waits for no reader; what it cannot do now, a
  // later commit does.
  void fold_large_wal();

  // Another number than at the last call when another connection, or a transaction of this one that
  // was rolled back, may have changed the file since; commits of this one change nothing. Call
  // inside a transaction.
  schema::Result<std::int64_t> version();

  schema::Result<std::optional<CheckpointRow>> newest_checkpoint();
  schema::Result<std::optional<CheckpointRow>> checkpoint_of_size(std::uint64_t size);
  // Calls `visit` for every record from `seq` on, in order, until it fails.
  schema::Result<void> visit_records(
      std::uint64_t seq, const std::function<schema::Result<void>(const RecordRow&)>& visit);
  // The record `seq`, if it is there.
  schema::Result<bool> visit_record(
      std::uint64_t seq, const std::function<schema::Result<void>(const RecordRow&)>& visit);

  // Each inserts one row and asserts that one row changed. A record whose `prev` is taken is
  // kConflict: a fork.
  schema::Result<void> insert(const NewRecord& record);
  schema::Result<void> insert(const PendingBlob& blob);
  schema::Result<void> insert(const CheckpointRow& checkpoint);

 private:
  LedgerDb(std::string path, sqlite::Connection connection, sqlite::Statement newest,
           sqlite::Statement by_size, sqlite::Statement records, sqlite::Statement insert_record,
           sqlite::Statement version);
  static schema::Result<LedgerDb> prepare(std::string path, sqlite::Connection connection);
  schema::Result<void> insert_one(sqlite::Statement& statement);

  std::string path_;
  sqlite::Connection connection_;
  sqlite::Statement newest_checkpoint_;
  sqlite::Statement checkpoint_by_size_;
  sqlite::Statement records_from_;
  sqlite::Statement insert_record_;
  sqlite::Statement version_;
  std::optional<std::uint32_t> written_at_look_;  // pages_written() when the WAL was found small
};

}  // namespace aasm::ledger
