#include "appends.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger/init.h"
#include "aasm/ledger/keystore.h"
#include "aasm/schema/json_parse.h"
#include "aasm/sqlite/connection.h"
#include "aasm/sqlite/ledger_schema.h"

#include "support/ledger_home.h"
#include "unit/verifier/long_run.h"

namespace aasm::bench {
namespace {

// What is signed of a note: its text, up to the empty line.
schema::ByteView text_of(const schema::Bytes& note) {
  const std::size_t end = schema::as_text(note).find("\n\n");
  return schema::ByteView(note).first(end + 1);
}

class PlainLoop {
 public:
  PlainLoop(const std::string& path, const crypto::SigningKey& run_key,
            const crypto::SigningKey& log_key)
      : connection_(sqlite::Connection::open(path, sqlite::OpenMode::kCreateNew).value()),
        run_key_(run_key),
        log_key_(log_key) {
    connection_.execute(std::string(sqlite::kLedgerSql)).value();
    connection_
        .execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
            "PRAGMA wal_autocheckpoint=128")
        .value();
    record_.emplace(connection_.prepare("INSERT INTO records VALUES(?,?,?,?,?,?)").value());
    checkpoint_.emplace(connection_.prepare("INSERT INTO checkpoints VALUES(?,?,?)").value());
  }

  void commit(const SignedRow* first, std::size_t count,
              const std::vector<CheckpointRow>& checkpoints) {
    sqlite::Transaction transaction = connection_.begin_immediate().value();
    for (const SignedRow* row = first; row != first + count; ++row) {
      insert(*row);
      const std::int64_t size = row->seq + 1;
      while (next_ < checkpoints.size() && checkpoints[next_].size < size) {
        ++next_;
      }
      if (next_ < checkpoints.size() && checkpoints[next_].size == size) {
        insert(checkpoints[next_]);
      }
    }
    transaction.commit().value();
  }

 private:
  void insert(const SignedRow& row) {
    const crypto::Signature signature = run_key_.sign(row.pae).value();
    record_->bind_int(1, row.seq).value();
    record_->bind_blob(2, row.prev).value();
    record_->bind_blob(3, row.leaf).value();
    record_->bind_blob(4, row.payload).value();
    record_->bind_blob(5, row.key).value();
    record_->bind_blob(6, signature).value();
    record_->run().value();
  }
  void insert(const CheckpointRow& row) {
    static_cast<void>(log_key_.sign(text_of(row.note)).value());
    checkpoint_->bind_int(1, row.size).value();
    checkpoint_->bind_blob(2, row.note).value();
    checkpoint_->bind_blob(3, row.frontier).value();
    checkpoint_->run().value();
  }

  sqlite::Connection connection_;
  const crypto::SigningKey& run_key_;
  const crypto::SigningKey& log_key_;
  std::optional<sqlite::Statement> record_;
  std::optional<sqlite::Statement> checkpoint_;
  std::size_t next_ = 0;
};

}  // namespace

AppendCost measure_appends(const std::string& folder, const AppendShape& shape) {
  const ledger::LedgerPaths paths = ledger::LedgerPaths::in_home(folder);
  ledger::initialise(folder, paths, {"bench.example", "0.0.0"}).value();
  const ledger::KeySet keys = ledger::load_keys(paths.keys).value();
  const test::TestRun run;
  AppendCost cost;
  cost.records = shape.records_a_commit * shape.commits;
  {
    ledger::Store store = ledger::Store::open(paths, ledger::load_keys(paths.keys).value()).value();
    store.append(std::vector<ledger::PendingRecord>{run.opened(store)}).value();
    std::vector<ledger::PendingRecord> records;
    cost.made = cost_of([&] { records = verifier::test::decision_records(run, 1, cost.records); });
    cost.append = cost_of([&] {
      for (std::size_t i = 0; i < records.size(); i += shape.records_a_commit) {
        store.append(std::span(records).subspan(i, shape.records_a_commit)).value();
      }
    });
  }
  const std::vector<SignedRow> rows = read_rows(paths.ledger, cost.records);
  const std::vector<CheckpointRow> checkpoints = read_checkpoints(paths.ledger);
  PlainLoop loop(folder + "/plain.db", run.key(), keys.log);
  cost.plain = cost_of([&] {
    for (std::size_t i = 0; i < rows.size(); i += shape.records_a_commit) {
      loop.commit(&rows[i], std::min(shape.records_a_commit, rows.size() - i), checkpoints);
    }
  });
  return cost;
}

}  // namespace aasm::bench
