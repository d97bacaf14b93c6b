#include "record_rows.h"

#include <string_view>
#include <utility>

#include "aasm/schema/json_parse.h"

namespace aasm::verifier {
namespace {

using schema::ByteView;
using schema::Result;
using sqlite::ColumnType;

// The blob in `column`, or nullopt with the reason in `malformed` (the first one stays).
Result<std::optional<ByteView>> blob(const sqlite::Statement& row, int column,
                                     std::string& malformed) {
  using Found = std::optional<ByteView>;
  if (AASM_TRY(row.column_type(column)) != ColumnType::kBlob) {
    if (malformed.empty()) {
      malformed = std::string(row.column_name(column)) + " is no blob";
    }
    return Found();
  }
  return Found(AASM_TRY(row.column_blob(column)));
}

void note_length(std::string& malformed, std::string_view name, std::size_t length) {
  if (malformed.empty()) {
    malformed = std::string(name) + " has " + std::to_string(length) + " bytes";
  }
}

template <class Hash>
Result<void> read_hash(const sqlite::Statement& row, int column, Hash& out,
                       std::string& malformed) {
  const std::optional<ByteView> bytes = AASM_TRY(blob(row, column, malformed));
  if (!bytes) {
    return {};
  }
  const Result<Hash> hash = Hash::from_span(*bytes);
  if (hash) {
    out = *hash;
  } else {
    note_length(malformed, row.column_name(column), bytes->size());
  }
  return {};
}

Result<void> read_bytes(const sqlite::Statement& row, int column, std::size_t max_bytes,
                        schema::Bytes& out, std::string& malformed) {
  const std::optional<ByteView> bytes = AASM_TRY(blob(row, column, malformed));
  if (!bytes) {
    return {};
  }
  if (bytes->size() > max_bytes) {
    note_length(malformed, row.column_name(column), bytes->size());
    return {};
  }
  out.assign(bytes->begin(), bytes->end());
  return {};
}

}  // namespace

Result<RecordRows> RecordRows::open(sqlite::Connection& connection) {
  return RecordRows(AASM_TRY(connection.prepare(
      "SELECT seq,prev,leaf,payload,keyid,sig FROM records NOT INDEXED ORDER BY seq")));
}

Result<bool> RecordRows::next(RawRecord& out) {
  if (at_end_ || !AASM_TRY(rows_.step())) {
    at_end_ = true;
    return false;
  }
  out.clear();
  out.seq = AASM_TRY(rows_.column_int(0));
  AASM_TRY(read_hash(rows_, 1, out.prev, out.malformed));
  AASM_TRY(read_hash(rows_, 2, out.leaf, out.malformed));
  AASM_TRY(read_bytes(rows_, 3, schema::kPayloadMaxBytes, out.payload, out.malformed));
  AASM_TRY(read_hash(rows_, 4, out.key, out.malformed));
  AASM_TRY(read_bytes(rows_, 5, crypto::kSignatureBytes, out.signature, out.malformed));
  if (out.signature.size() != crypto::kSignatureBytes) {
    note_length(out.malformed, "sig", out.signature.size());
  }
  return true;
}

Result<std::int64_t> last_seq(sqlite::Connection& connection) {
  sqlite::Statement row =
      AASM_TRY(connection.prepare("SELECT seq FROM records NOT INDEXED ORDER BY seq DESC LIMIT 1"));
  if (!AASM_TRY(row.step())) {
    return std::int64_t{-1};
  }
  return row.column_int(0);
}

Result<std::optional<schema::Bytes>> read_payload(sqlite::Connection& connection,
                                                  std::int64_t seq) {
  using Found = std::optional<schema::Bytes>;
  sqlite::Statement row =
      AASM_TRY(connection.prepare("SELECT payload FROM records NOT INDEXED WHERE seq=?1"));
  AASM_TRY(row.bind_int(1, seq));
  if (!AASM_TRY(row.step()) || AASM_TRY(row.column_type(0)) != ColumnType::kBlob) {
    return Found();
  }
  const ByteView bytes = AASM_TRY(row.column_blob(0));
  return Found(schema::Bytes(bytes.begin(), bytes.end()));
}

}  // namespace aasm::verifier
