#include "aasm/ledger/reader.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include "aasm/ledger/paths.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/record_run.h"
#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/harden.h"

#include "key_history.h"
#include "row_columns.h"

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

constexpr const char* kRowOf = "SELECT seq,leaf,payload,keyid,sig FROM records NOT INDEXED ";

std::string run_pattern(const schema::RunId& run) {
  return "\"run\":\"" + run.text() + "\"";
}

// Columns as in kRowOf.
Result<StoredRecord> record_of(const Statement& row) {
  StoredRecord record;
  record.seq = AASM_TRY(unsigned_column(row, 0));
  const std::string name = "record " + std::to_string(record.seq);
  record.leaf = AASM_TRY_CONTEXT(fixed_column<schema::LeafHash>(row, 1), name);
  record.payload = schema::as_text(AASM_TRY_CONTEXT(row.column_blob(2), name));
  record.key = AASM_TRY_CONTEXT(fixed_column<schema::KeyId>(row, 3), name);
  const schema::ByteView signature = AASM_TRY_CONTEXT(row.column_blob(4), name);
  auto parsed = ledger_format::parse_payload(record.payload);
  auto* statement = std::get_if<ledger_format::Statement>(&parsed);
  if (statement == nullptr || signature.size() != record.signature.size()) {
    return Error(ErrorCode::kIntegrity, name + " is no record of this format");
  }
  const schema::Bytes pae = ledger_format::pae(schema::as_bytes(record.payload));
  if (ledger_format::leaf_hash(pae) != record.leaf || statement->envelope.seq != record.seq) {
    return Error(ErrorCode::kIntegrity, name + " does not hash to its leaf");
  }
  std::copy(signature.begin(), signature.end(), record.signature.begin());
  record.statement = std::move(*statement);
  return record;
}

Result<std::optional<StoredCheckpoint>> checkpoint_of(Statement& row) {
  if (!AASM_TRY(row.step())) {
    return std::optional<StoredCheckpoint>();
  }
  StoredCheckpoint found;
  found.size = AASM_TRY(unsigned_column(row, 0));
  found.note = schema::as_text(AASM_TRY(row.column_blob(1)));
  return std::optional<StoredCheckpoint>(std::move(found));
}

// How runs ended, kept while reading backwards until their run.opened comes.
struct Ending {
  std::uint64_t seq = 0;
  std::optional<schema::RunEnding> ending;
  bool recovered = false;
};

Result<Ending> ending_of(const StoredRecord& record) {
  if (record.statement.envelope.kind == "run.recovered") {
    return Ending{record.seq, std::nullopt, true};
  }
  const auto body = AASM_TRY_CONTEXT(schema::read_fields<schema::RunClosed>(record.statement.body),
                                     "record " + std::to_string(record.seq));
  return Ending{record.seq, body.ending, false};
}

Result<RunSummary> summary_of(const StoredRecord& record, const std::optional<Ending>& ending) {
  const auto body = AASM_TRY_CONTEXT(schema::read_fields<schema::RunOpened>(record.statement.body),
                                     "record " + std::to_string(record.seq));
  RunSummary summary;
  summary.run = record.statement.envelope.run;
  summary.opened_wall_ns = record.statement.envelope.wall_ns;
  summary.program = body.program;
  summary.agent_id = body.identity.agent_id;
  summary.opened_seq = record.seq;
  if (ending) {
    summary.end_seq = ending->seq;
    summary.ending = ending->ending;
    summary.recovered = ending->recovered;
  }
  return summary;
}

// Makes summaries of the rows of `rows`, which come newest first, until it has `limit`.
Result<std::vector<RunSummary>> summarise(Statement& rows, std::size_t limit) {
  std::map<schema::RunId, Ending> endings;
  std::vector<RunSummary> runs;
  while (runs.size() < limit && AASM_TRY(rows.step())) {
    const StoredRecord record = AASM_TRY(record_of(rows));
    const std::string& kind = record.statement.envelope.kind;
    const auto ending = endings.find(record.statement.envelope.run);
    if (kind == "run.closed" || kind == "run.recovered") {
      endings.emplace(record.statement.envelope.run, AASM_TRY(ending_of(record)));
    } else if (kind == "run.opened") {
      const bool ended = ending != endings.end();
      runs.push_back(AASM_TRY(
          summary_of(record, ended ? std::optional<Ending>(ending->second) : std::nullopt)));
    }
  }
  return runs;
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
  sqlite::Connection connection = AASM_TRY_CONTEXT(
      sqlite::Connection::open(path, sqlite::OpenMode::kReadOnly), "opening the ledger");
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
