#include "aasm/ledger/reader.h"

#include <system_error>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "aasm/ledger/paths.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/harden.h"

#include "key_history.h"
#include "row_columns.h"
#include "stored_rows.h"

namespace aasm::ledger {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using sqlite::Statement;

namespace {

constexpr std::chrono::seconds kBusyTimeout{5};

// Canonical payloads spell these in one way, so a byte search finds every candidate; parsing
// decides.
constexpr std::string_view kOpened = "\"kind\":\"run.opened\"";
constexpr std::string_view kClosed = "\"kind\":\"run.closed\"";
constexpr std::string_view kRecovered = "\"kind\":\"run.recovered\"";
constexpr std::string_view kKeyKind = "\"kind\":\"key.";

// A writer has the -shm file from the moment it reads the database. Without one nobody writes:
// somebody's copy, on which nothing is to be left.
sqlite::OpenMode mode_for(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path + "-shm", code) || code ? sqlite::OpenMode::kReadOnly
                                                              : sqlite::OpenMode::kReadUnshared;
}

std::string run_pattern(const schema::RunId& run) {
  return "\"run\":\"" + run.text() + "\"";
}

}  // namespace

struct LedgerReader::State {
  sqlite::Connection connection;
  std::string heads;

  Result<std::uint64_t> count(const char* sql) {
    return static_cast<std::uint64_t>(AASM_TRY(connection.query_int(sql)));
  }
};

LedgerReader::LedgerReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
LedgerReader::~LedgerReader() = default;
LedgerReader::LedgerReader(LedgerReader&&) noexcept = default;
LedgerReader& LedgerReader::operator=(LedgerReader&&) noexcept = default;

Result<LedgerReader> LedgerReader::open(const std::string& path) {
  sqlite::Connection connection =
      AASM_TRY_CONTEXT(sqlite::Connection::open(path, mode_for(path)), "opening the ledger");
  AASM_TRY(connection.set_busy_timeout(kBusyTimeout));
  AASM_TRY(sqlite::harden(connection, {}));
  AASM_TRY_CONTEXT(require_ledger_schema(connection), "opening the ledger");
  sqlite::Allowance allowance = sqlite::ledger_tables();
  allowance.functions = {"count", "instr", "max", "coalesce"};
  allowance.transactions = true;
  AASM_TRY(sqlite::allow_only(connection, std::move(allowance)));
  return LedgerReader(std::make_unique<State>(
      State{std::move(connection), LedgerPaths::with_ledger("", path).heads}));
}

Result<LedgerStatus> LedgerReader::status() {
  const sqlite::Transaction snapshot = AASM_TRY(state_->connection.begin_deferred());
  LedgerStatus status;
  // The count by key costs one look; count(*) would read the whole tree.
  status.records = AASM_TRY(state_->count("SELECT coalesce(max(seq)+1,0) FROM records"));
  status.checkpoints = AASM_TRY(state_->count("SELECT count(*) FROM checkpoints"));
  status.blobs = AASM_TRY(state_->count("SELECT count(*) FROM blobs"));
  status.newest_checkpoint = AASM_TRY(newest_checkpoint());
  const std::uint64_t covered = status.newest_checkpoint ? status.newest_checkpoint->size : 0;
  status.tail = status.records > covered ? status.records - covered : 0;
  if (status.records > 0) {
    status.origin = AASM_TRY(record(0)).statement.envelope.origin;
  }
  return status;
}

Result<StoredRecord> LedgerReader::record(std::uint64_t seq) {
  Statement row = AASM_TRY(state_->connection.prepare(std::string(kRowOf) + "WHERE seq=?"));
  AASM_TRY(row.bind_int(1, static_cast<std::int64_t>(seq)));
  if (!AASM_TRY(row.step())) {
    return Error(ErrorCode::kNotFound, "there is no record " + std::to_string(seq));
  }
  return record_of(row);
}

Result<std::vector<RunSummary>> LedgerReader::runs(std::size_t limit) {
  Statement rows = AASM_TRY(state_->connection.prepare(
      std::string(kRowOf) +
      "WHERE instr(payload,?1) OR instr(payload,?2) OR instr(payload,?3) ORDER BY seq DESC"));
  AASM_TRY(rows.bind_blob(1, schema::as_bytes(kOpened)));
  AASM_TRY(rows.bind_blob(2, schema::as_bytes(kClosed)));
  AASM_TRY(rows.bind_blob(3, schema::as_bytes(kRecovered)));
  return summarise(rows, limit);
}

Result<RunSummary> LedgerReader::run(const schema::RunId& run) {
  Statement rows =
      AASM_TRY(state_->connection.prepare(
          std::string(kRowOf) + "WHERE instr(payload,?4) AND (instr(payload,?1) OR "
                                "instr(payload,?2) OR instr(payload,?3)) ORDER BY seq DESC"));
  const std::string pattern = run_pattern(run);
  AASM_TRY(rows.bind_blob(1, schema::as_bytes(kOpened)));
  AASM_TRY(rows.bind_blob(2, schema::as_bytes(kClosed)));
  AASM_TRY(rows.bind_blob(3, schema::as_bytes(kRecovered)));
  AASM_TRY(rows.bind_blob(4, schema::as_bytes(pattern)));
  std::vector<RunSummary> found = AASM_TRY(summarise(rows, 1));
  if (run.empty() || found.empty() || found.front().run != run) {
    return Error(ErrorCode::kNotFound, "the ledger has no such run");
  }
  return std::move(found.front());
}

Result<void> LedgerReader::visit_run(
    const schema::RunId& run, const std::function<Result<void>(const StoredRecord&)>& visit) {
  const sqlite::Transaction snapshot = AASM_TRY(state_->connection.begin_deferred());
  const RunSummary summary = AASM_TRY(this->run(run));
  Statement rows = AASM_TRY(state_->connection.prepare(
      std::string(kRowOf) + "WHERE seq>=?1 AND seq<=?2 AND instr(payload,?3) ORDER BY seq"));
  const std::string pattern = run_pattern(run);
  AASM_TRY(rows.bind_int(1, static_cast<std::int64_t>(summary.opened_seq)));
  AASM_TRY(
      rows.bind_int(2, summary.end_seq ? static_cast<std::int64_t>(*summary.end_seq) : INT64_MAX));
  AASM_TRY(rows.bind_blob(3, schema::as_bytes(pattern)));
  while (AASM_TRY(rows.step())) {
    const StoredRecord record = AASM_TRY(record_of(rows));
    if (record.statement.envelope.run == run) {
      AASM_TRY(visit(record));
    }
  }
  return {};
}

Result<std::vector<std::uint64_t>> LedgerReader::key_records(std::uint64_t size) {
  const std::string origin = AASM_TRY(record(0)).statement.envelope.origin;
  std::set<std::uint64_t> found;
  if (const auto kept = KeyHistory::kept(state_->heads, origin)) {
    for (const KeyIntroduction& one : kept->introductions()) {
      found.insert(one.seq);
    }
    for (const KeyRevocation& one : kept->revocations()) {
      found.insert(one.seq);
    }
  } else {
    Statement rows = AASM_TRY(
        state_->connection.prepare(std::string(kRowOf) + "WHERE instr(payload,?1) ORDER BY seq"));
    AASM_TRY(rows.bind_blob(1, schema::as_bytes(kKeyKind)));
    while (AASM_TRY(rows.step())) {
      const StoredRecord record = AASM_TRY(record_of(rows));
      if (record.statement.envelope.kind.starts_with("key.")) {
        found.insert(record.seq);
      }
    }
  }
  std::vector<std::uint64_t> numbers;
  std::copy_if(found.begin(), found.end(), std::back_inserter(numbers),
               [size](std::uint64_t seq) { return seq != 0 && seq < size; });
  return numbers;
}

Result<std::optional<StoredCheckpoint>> LedgerReader::newest_checkpoint() {
  Statement row = AASM_TRY(
      state_->connection.prepare("SELECT size,note FROM checkpoints ORDER BY size DESC LIMIT 1"));
  return checkpoint_of(row);
}

Result<std::optional<StoredCheckpoint>> LedgerReader::checkpoint_covering(std::uint64_t size) {
  Statement row = AASM_TRY(state_->connection.prepare(
      "SELECT size,note FROM checkpoints WHERE size>=? ORDER BY size LIMIT 1"));
  AASM_TRY(row.bind_int(1, static_cast<std::int64_t>(size)));
  return checkpoint_of(row);
}

Result<std::vector<schema::LeafHash>> LedgerReader::leaves(std::uint64_t begin, std::uint64_t end) {
  Statement rows = AASM_TRY(state_->connection.prepare(
      "SELECT seq,leaf FROM records NOT INDEXED WHERE seq>=? AND seq<? ORDER BY seq"));
  AASM_TRY(rows.bind_int(1, static_cast<std::int64_t>(begin)));
  AASM_TRY(rows.bind_int(2, static_cast<std::int64_t>(end)));
  std::vector<schema::LeafHash> leaves;
  for (std::uint64_t seq = begin; seq < end; ++seq) {
    if (!AASM_TRY(rows.step()) || AASM_TRY(unsigned_column(rows, 0)) != seq) {
      return Error(ErrorCode::kNotFound, "there is no record " + std::to_string(seq));
    }
    leaves.push_back(AASM_TRY(fixed_column<schema::LeafHash>(rows, 1)));
  }
  return leaves;
}

Result<std::optional<schema::TreeHash>> LedgerReader::subtree(std::uint64_t begin,
                                                              std::uint64_t end) {
  const std::uint64_t width = end - begin;
  const bool perfect = end > begin && (width & (width - 1)) == 0 && begin % width == 0;
  if (!perfect || (begin / width) % 2 != 0) {
    return std::optional<schema::TreeHash>();
  }
  // [begin, end) is a piece of every frontier from its own end to just before its sibling's end.
  Statement row = AASM_TRY(state_->connection.prepare(
      "SELECT size,frontier FROM checkpoints WHERE size>=? AND size<? ORDER BY size LIMIT 1"));
  AASM_TRY(row.bind_int(1, static_cast<std::int64_t>(end)));
  AASM_TRY(row.bind_int(2, static_cast<std::int64_t>(end + width)));
  if (!AASM_TRY(row.step())) {
    return std::optional<schema::TreeHash>();
  }
  const std::uint64_t size = AASM_TRY(unsigned_column(row, 0));
  const schema::ByteView frontier = AASM_TRY(row.column_blob(1));
  const auto range = AASM_TRY_CONTEXT(ledger_format::CompactRange::from_frontier(size, frontier),
                                      "frontier of checkpoint " + std::to_string(size));
  std::uint64_t covered = 0;
  std::size_t piece = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 62; bit != 0; bit >>= 1) {
    if ((size & bit) == 0) {
      continue;
    }
    if (covered == begin && bit == width) {
      return std::optional<schema::TreeHash>(range.hashes()[piece]);
    }
    covered += bit;
    ++piece;
  }
  return std::optional<schema::TreeHash>();
}

}  // namespace aasm::ledger
