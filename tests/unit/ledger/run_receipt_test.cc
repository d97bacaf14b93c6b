#include "aasm/ledger/run_receipt.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/store.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/ledger_format/receipt.h"
#include "aasm/sqlite/connection.h"

#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using Records = std::vector<PendingRecord>;

class RunReceiptTest : public testing::Test {
 protected:
  // Appends a whole run with `count` records between its first and last.
  void append(const test::TestRun& run, std::size_t count) {
    Store store = home_.open();
    Records records = run.batches(count);
    records.insert(records.begin(), run.opened(store));
    records.push_back(run.closed());
    store.append(records).value();
  }
  schema::Result<std::string> receipt(const schema::RunId& run) const {
    LedgerReader reader = LedgerReader::open(home_.paths().ledger).value();
    return build_run_receipt(reader, run);
  }
  std::optional<ErrorCode> code_for(const schema::RunId& run) const {
    const auto built = receipt(run);
    return built.has_value() ? std::nullopt : std::optional(built.error().code());
  }
  // Every record of the receipt is in the tree of its note.
  void expect_proven(const std::string& text) const {
    const ledger_format::Receipt parsed = ledger_format::parse_receipt(text).value();
    const auto note = ledger_format::parse_signed_checkpoint(parsed.checkpoint).value();
    for (const ledger_format::ReceiptRecord& record : parsed.records) {
      const auto leaf =
          ledger_format::leaf_hash(ledger_format::pae(schema::as_bytes(record.dsse.payload)));
      EXPECT_TRUE(ledger_format::verify_inclusion(leaf, record.index, note.checkpoint.size,
                                                  record.path, note.checkpoint.root))
          << record.index;
    }
  }

  test::LedgerHome home_;
  test::TestRun run_;
};

TEST_F(RunReceiptTest, HoldsRecordZeroAndBothEndsOfTheRun) {
  append(test::TestRun(), 5);
  append(run_, 3);
  const std::string text = receipt(run_.id()).value();
  const ledger_format::Receipt parsed = ledger_format::parse_receipt(text).value();
  ASSERT_EQ(parsed.records.size(), 3U);
  EXPECT_EQ(parsed.records[0].index, 0U);
  EXPECT_EQ(parsed.records[1].index, 8U);
  EXPECT_EQ(parsed.records[2].index, 12U);
  EXPECT_EQ(parsed.index, 12U);
  const auto note = ledger_format::parse_signed_checkpoint(parsed.checkpoint).value();
  EXPECT_EQ(note.checkpoint.size, 13U);
  expect_proven(text);
}

TEST_F(RunReceiptTest, ProofsHoldInLedgersOfEverySize) {
  for (std::size_t i = 0; i < 20; ++i) {
    const test::TestRun run;
    append(run, i);
    expect_proven(receipt(run.id()).value());
  }
}

TEST_F(RunReceiptTest, ProofsHoldWhereFrontiersStandInForLeaves) {
  append(run_, 10);
  append(test::TestRun(), 1500);
  const test::TestRun last;
  append(last, 10);
  expect_proven(receipt(run_.id()).value());
  expect_proven(receipt(last.id()).value());
}

// Case L18.
TEST_F(RunReceiptTest, AReceiptDoesNotChangeWhenTheLedgerGrows) {
  append(run_, 2);
  const std::string before = receipt(run_.id()).value();
  append(test::TestRun(), 300);
  EXPECT_EQ(receipt(run_.id()).value(), before);
}

TEST_F(RunReceiptTest, AnOpenRunHasNone) {
  Store store = home_.open();
  store.append(Records{run_.opened(store)}).value();
  EXPECT_EQ(code_for(run_.id()), ErrorCode::kUnavailable);
}

TEST_F(RunReceiptTest, AnUnknownRunHasNone) {
  EXPECT_EQ(code_for(run_.id()), ErrorCode::kNotFound);
}

TEST_F(RunReceiptTest, LeavesThatDoNotGiveTheSignedRootMakeNone) {
  append(run_, 3);
  sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadWrite)
      .value()
      .execute("UPDATE records SET leaf=zeroblob(32) WHERE seq=2")
      .value();
  EXPECT_EQ(code_for(run_.id()), ErrorCode::kIntegrity);
}

}  // namespace
}  // namespace aasm::ledger
