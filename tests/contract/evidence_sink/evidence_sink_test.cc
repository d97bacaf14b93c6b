#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/reader.h"
#include "aasm/sqlite/connection.h"

#include "contract/evidence_sink/evidence_sink_contract.h"
#include "support/ledger_home.h"
#include "support/memory_sink.h"

namespace aasm::test {
namespace {

class LedgerHarness : public SinkHarness {
 public:
  LedgerHarness()
      : run_(new_run()),
        sink_(ledger::LedgerSink::create(home_.open(), home_.paths()).value()),
        reader_(ledger::LedgerReader::open(home_.paths().ledger).value()) {}

  schema::EvidenceSink& sink() override { return *sink_; }
  schema::RunId run() const override { return run_; }
  std::vector<std::string> durable_kinds() override {
    std::vector<std::string> kinds;
    const auto visited =
        reader_.visit_run(run_, [&](const ledger::StoredRecord& record) -> schema::Result<void> {
          kinds.push_back(record.statement.envelope.kind);
          return {};
        });
    EXPECT_TRUE(visited.has_value() || visited.error().code() == schema::ErrorCode::kNotFound);
    return kinds;
  }
  std::optional<std::string> blob(const schema::Sha256& digest) override {
    auto connection =
        sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadOnly).value();
    auto row = connection.prepare("SELECT data FROM blobs WHERE sha256=?").value();
    row.bind_blob(1, digest.view()).value();
    if (!row.step().value()) {
      return std::nullopt;
    }
    return std::string(schema::as_text(row.column_blob(0).value()));
  }
  // A checkpoint that vanishes is one of the things the store refuses to append after.
  void break_storage() override {
    sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadWrite)
        .value()
        .execute("DELETE FROM checkpoints")
        .value();
  }

 private:
  LedgerHome home_;
  schema::RunId run_;
  std::unique_ptr<ledger::LedgerSink> sink_;
  ledger::LedgerReader reader_;
};

class MemoryHarness : public SinkHarness {
 public:
  schema::EvidenceSink& sink() override { return sink_; }
  schema::RunId run() const override { return run_; }
  std::vector<std::string> durable_kinds() override {
    std::vector<std::string> kinds;
    for (const schema::RecordBody& body : sink_.durable()) {
      kinds.emplace_back(schema::kind_of(body));
    }
    return kinds;
  }
  std::optional<std::string> blob(const schema::Sha256& digest) override {
    return sink_.blob(digest);
  }
  void break_storage() override {
    sink_.fail_next_commit(schema::Error(schema::ErrorCode::kUnavailable, "broken by the test"));
  }

 private:
  MemorySink sink_;
  schema::RunId run_ = new_run();
};

INSTANTIATE_TEST_SUITE_P(
    Sinks, EvidenceSinkContract,
    testing::Values(SinkCase{"Ledger", [] { return std::make_unique<LedgerHarness>(); }},
                    SinkCase{"Memory", [] { return std::make_unique<MemoryHarness>(); }}),
    [](const auto& sink) { return std::string(sink.param.name); });

}  // namespace
}  // namespace aasm::test
