#include "signed_rows.h"

#include <string_view>
#include <utility>

#include "aasm/ledger_format/pae.h"
#include "aasm/schema/json_parse.h"
#include "aasm/sqlite/connection.h"

namespace aasm::bench {
namespace {

// Leaves -wal and -shm as they are when it closes.
sqlite::Connection open_ledger(const std::string& ledger) {
  sqlite::Connection connection =
      sqlite::Connection::open(ledger, sqlite::OpenMode::kReadWrite).value();
  connection.keep_wal_on_close().value();
  return connection;
}

schema::Bytes column(const sqlite::Statement& row, int number) {
  const schema::ByteView bytes = row.column_blob(number).value();
  return {bytes.begin(), bytes.end()};
}

// The run key that a run.opened brings; empty for other records. Canonical payloads spell it so.
std::string_view run_key_in(std::string_view payload) {
  constexpr std::string_view kMember = "\"run_key\":\"";
  const std::size_t at = payload.find(kMember);
  return at == std::string_view::npos ? std::string_view()
                                      : payload.substr(at + kMember.size(), 64);
}

}  // namespace

std::vector<SignedRow> read_rows(const std::string& ledger, std::size_t count) {
  sqlite::Connection connection = open_ledger(ledger);
  sqlite::Statement rows =
      connection.prepare("SELECT seq,prev,leaf,payload,keyid,sig FROM records ORDER BY seq")
          .value();
  std::vector<SignedRow> read;
  schema::PublicKey run_key;
  while (read.size() < count && rows.step().value()) {
    SignedRow row{rows.column_int(0).value(),
                  run_key,
                  column(rows, 1),
                  column(rows, 2),
                  column(rows, 3),
                  column(rows, 4),
                  column(rows, 5),
                  {}};
    const std::string_view key = run_key_in(schema::as_text(row.payload));
    if (!key.empty()) {
      run_key = schema::PublicKey::from_hex_text(key).value();
    } else if (row.seq > 0) {
      row.pae = ledger_format::pae(row.payload);
      read.push_back(std::move(row));
    }
  }
  return read;
}

std::vector<CheckpointRow> read_checkpoints(const std::string& ledger) {
  sqlite::Connection connection = open_ledger(ledger);
  sqlite::Statement rows =
      connection.prepare("SELECT size,note,frontier FROM checkpoints ORDER BY size").value();
  std::vector<CheckpointRow> read;
  while (rows.step().value()) {
    read.push_back({rows.column_int(0).value(), column(rows, 1), column(rows, 2)});
  }
  return read;
}

}  // namespace aasm::bench
