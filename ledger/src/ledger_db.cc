#include "ledger_db.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include "aasm/ledger_format/pae.h"
#include "aasm/schema/json_parse.h"
#include "aasm/sqlite/harden.h"
#include "aasm/sqlite/ledger_schema.h"

#include "row_columns.h"

namespace aasm::ledger {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using sqlite::Connection;
using sqlite::Statement;

constexpr std::chrono::seconds kBusyTimeout{5};  // docs/spec/ledger-format.md rule 4.1
constexpr std::int64_t kSynchronousFull = 2;
// Pages of WAL after which a commit folds them into the file. The next open reads back what is
// left (some 0.75 us a page), and folding costs two syncs: a short run writes some twenty pages.
constexpr std::int64_t kCheckpointPages = 128;
constexpr std::uintmax_t kLargeWal = std::uintmax_t{4} << 20;  // bytes: some 1,000 pages

Result<void> set_durability(Connection& connection) {
  AASM_TRY(
      connection.execute("PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; "
                         "PRAGMA wal_autocheckpoint=" +
                         std::to_string(kCheckpointPages)));
  if (AASM_TRY(connection.query_int("PRAGMA synchronous")) != kSynchronousFull) {
    return Error(ErrorCode::kUnsupported, "SQLite does not take synchronous=FULL");
  }
  return {};
}

Result<RecordRow> record_of(const Statement& row) {
  RecordRow record;
  record.seq = AASM_TRY(unsigned_column(row, 0));
  record.prev = AASM_TRY(fixed_column<schema::LeafHash>(row, 1));
  record.leaf = AASM_TRY(fixed_column<schema::LeafHash>(row, 2));
  record.payload = schema::as_text(AASM_TRY(row.column_blob(3)));
  if (record.payload.size() > schema::kPayloadMaxBytes) {
    return Error(ErrorCode::kIntegrity, "a payload in the ledger is too long");
  }
  return record;
}

Result<std::optional<CheckpointRow>> checkpoint_of(Statement& statement) {
  const ResetOnExit guard(statement);
  if (!AASM_TRY(statement.step())) {
    return std::optional<CheckpointRow>();
  }
  CheckpointRow row;
  row.size = AASM_TRY(unsigned_column(statement, 0));
  row.note = schema::as_text(AASM_TRY(statement.column_blob(1)));
  const schema::ByteView frontier = AASM_TRY(statement.column_blob(2));
  row.frontier.assign(frontier.begin(), frontier.end());
  return std::optional<CheckpointRow>(std::move(row));
}

}  // namespace

schema::LeafHash RecordRow::recomputed_leaf() const {
  return ledger_format::leaf_hash(ledger_format::pae(schema::as_bytes(payload)));
}

LedgerDb::LedgerDb(std::string path, Connection connection, Statement newest, Statement by_size,
                   Statement records, Statement insert_record, Statement version)
    : path_(std::move(path)),
      connection_(std::move(connection)),
      newest_checkpoint_(std::move(newest)),
      checkpoint_by_size_(std::move(by_size)),
      records_from_(std::move(records)),
      insert_record_(std::move(insert_record)),
      version_(std::move(version)) {}

Result<LedgerDb> LedgerDb::prepare(std::string path, Connection connection) {
  Statement newest = AASM_TRY(
      connection.prepare("SELECT size,note,frontier FROM checkpoints ORDER BY size DESC LIMIT 1"));
  Statement by_size =
      AASM_TRY(connection.prepare("SELECT size,note,frontier FROM checkpoints WHERE size=?"));
  Statement records = AASM_TRY(connection.prepare(
      "SELECT seq,prev,leaf,payload FROM records NOT INDEXED WHERE seq>=? ORDER BY seq"));
  Statement insert_record = AASM_TRY(connection.prepare(
      "INSERT INTO records(seq,prev,leaf,payload,keyid,sig) VALUES(?,?,?,?,?,?)"));
  Statement version = AASM_TRY(connection.prepare("PRAGMA data_version"));
  return LedgerDb(std::move(path), std::move(connection), std::move(newest), std::move(by_size),
                  std::move(records), std::move(insert_record), std::move(version));
}

Result<LedgerDb> LedgerDb::open(const std::string& path) {
  Connection connection = AASM_TRY(Connection::open(path, sqlite::OpenMode::kReadWrite));
  AASM_TRY(connection.set_busy_timeout(kBusyTimeout));
  AASM_TRY(sqlite::harden(connection, {}));
  AASM_TRY(require_ledger_schema(connection));
  AASM_TRY(set_durability(connection));
  if (AASM_TRY(connection.query_text("PRAGMA journal_mode")) != "wal") {
    return Error(ErrorCode::kIntegrity, "the ledger is not in WAL mode");
  }
  // Rule 4.9. As durable as folding: what a commit left in the WAL was synced there.
  AASM_TRY(connection.keep_wal_on_close());
  return prepare(path, std::move(connection));
}

Result<LedgerDb> LedgerDb::create(const std::string& path) {
  Connection connection = AASM_TRY(Connection::open(path, sqlite::OpenMode::kCreateNew));
  AASM_TRY(connection.execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF"));
  AASM_TRY(connection.execute(std::string(sqlite::kLedgerSql)));
  return prepare(path, std::move(connection));
}

Result<std::int64_t> LedgerDb::version() {
  const ResetOnExit guard(version_);
  if (!AASM_TRY(version_.step())) {
    return Error(ErrorCode::kInternal, "SQLite tells no data version");
  }
  return version_.column_int(0);
}

void LedgerDb::fold_large_wal() {
  const std::uint32_t written = connection_.pages_written();
  if (written_at_look_ && written - *written_at_look_ < kCheckpointPages) {
    return;
  }
  std::error_code missing;
  const std::uintmax_t size = std::filesystem::file_size(path_ + "-wal", missing);
  if (missing || size < kLargeWal) {
    written_at_look_ = written;
    return;
  }
  written_at_look_.reset();
  if (!connection_.set_busy_timeout({})) {
    return;
  }
  static_cast<void>(connection_.execute("PRAGMA wal_checkpoint(TRUNCATE)").has_value());
  static_cast<void>(connection_.set_busy_timeout(kBusyTimeout).has_value());
}

Result<std::optional<CheckpointRow>> LedgerDb::newest_checkpoint() {
  return checkpoint_of(newest_checkpoint_);
}

Result<std::optional<CheckpointRow>> LedgerDb::checkpoint_of_size(std::uint64_t size) {
  AASM_TRY(checkpoint_by_size_.bind_int(1, static_cast<std::int64_t>(size)));
  return checkpoint_of(checkpoint_by_size_);
}

Result<void> LedgerDb::visit_records(std::uint64_t seq,
                                     const std::function<Result<void>(const RecordRow&)>& visit) {
  const ResetOnExit guard(records_from_);
  AASM_TRY(records_from_.bind_int(1, static_cast<std::int64_t>(seq)));
  while (AASM_TRY(records_from_.step())) {
    const RecordRow row = AASM_TRY(record_of(records_from_));
    AASM_TRY(visit(row));
  }
  return {};
}

Result<bool> LedgerDb::visit_record(std::uint64_t seq,
                                    const std::function<Result<void>(const RecordRow&)>& visit) {
  const ResetOnExit guard(records_from_);
  AASM_TRY(records_from_.bind_int(1, static_cast<std::int64_t>(seq)));
  if (!AASM_TRY(records_from_.step())) {
    return false;
  }
  const RecordRow row = AASM_TRY(record_of(records_from_));
  if (row.seq != seq) {
    return false;
  }
  AASM_TRY(visit(row));
  return true;
}

Result<void> LedgerDb::insert_one(Statement& statement) {
  AASM_TRY(statement.run());
  if (connection_.changes() != 1) {
    return Error(ErrorCode::kInternal, "an insert did not change exactly one row");
  }
  return {};
}

Result<void> LedgerDb::insert(const NewRecord& record) {
  AASM_TRY(insert_record_.reset());
  AASM_TRY(insert_record_.bind_int(1, static_cast<std::int64_t>(record.seq)));
  AASM_TRY(insert_record_.bind_blob(2, record.prev.view()));
  AASM_TRY(insert_record_.bind_blob(3, record.leaf.view()));
  AASM_TRY(insert_record_.bind_blob(4, schema::as_bytes(record.payload)));
  AASM_TRY(insert_record_.bind_blob(5, record.key.view()));
  AASM_TRY(insert_record_.bind_blob(6, record.signature));
  return insert_one(insert_record_);
}

Result<void> LedgerDb::insert(const PendingBlob& blob) {
  Statement statement =
      AASM_TRY(connection_.prepare("INSERT INTO blobs(sha256,salt,data) VALUES(?,?,?)"));
  AASM_TRY(statement.bind_blob(1, blob.digest.view()));
  AASM_TRY(statement.bind_blob(2, blob.salt));
  AASM_TRY(statement.bind_blob(3, schema::as_bytes(blob.data)));
  return insert_one(statement);
}

Result<void> LedgerDb::insert(const CheckpointRow& checkpoint) {
  Statement statement =
      AASM_TRY(connection_.prepare("INSERT INTO checkpoints(size,note,frontier) VALUES(?,?,?)"));
  AASM_TRY(statement.bind_int(1, static_cast<std::int64_t>(checkpoint.size)));
  AASM_TRY(statement.bind_blob(2, schema::as_bytes(checkpoint.note)));
  AASM_TRY(statement.bind_blob(3, checkpoint.frontier));
  return insert_one(statement);
}

}  // namespace aasm::ledger
