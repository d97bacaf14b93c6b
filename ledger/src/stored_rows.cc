#include "stored_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/record_run.h"

#include "row_columns.h"

namespace aasm::ledger {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using sqlite::Statement;

namespace {

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

}  // namespace

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

}  // namespace aasm::ledger
