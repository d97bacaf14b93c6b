#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/reader.h"
#include "aasm/ledger/store.h"

#include "support/ledger_check.h"
#include "support/ledger_home.h"

// docs/spec/ledger-format.md rule 4.1: what was sealed ahead is appended only where it belongs.
namespace aasm::ledger {
namespace {

using Records = std::vector<PendingRecord>;

class SealAheadTest : public testing::Test {
 protected:
  // Sealed one after another, as the store thread does it.
  static void seal_all(const Store& store, Records& records) {
    std::optional<Place> place;
    for (PendingRecord& record : records) {
      store.seal_ahead(record, place);
    }
  }
  Records short_run(const Store& store, const test::TestRun& run) const {
    return {run.opened(store), run.record(test::batch_body()), run.closed()};
  }
  std::vector<std::string> payloads() const {
    LedgerReader reader = LedgerReader::open(home_.paths().ledger).value();
    std::vector<std::string> all;
    const std::uint64_t count = reader.status().value().records;
    for (std::uint64_t seq = 0; seq < count; ++seq) {
      all.push_back(reader.record(seq).value().payload);
    }
    return all;
  }

  test::LedgerHome home_;
  test::TestRun run_;
};

TEST_F(SealAheadTest, IsAppendedAsItWasSealed) {
  Store store = home_.open();
  Records records = short_run(store, run_);
  seal_all(store, records);
  std::vector<std::string> sealed;
  for (const PendingRecord& record : records) {
    ASSERT_TRUE(record.ahead.has_value());
    sealed.push_back(record.ahead->payload);
  }
  // Sealing is deterministic: only another time can tell that the append did not do it again.
  records[1].wall_ns += 1;
  store.append(records).value();
  std::vector<std::string> stored = payloads();
  stored.erase(stored.begin());
  EXPECT_EQ(stored, sealed);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

TEST_F(SealAheadTest, SaysWhatSealingInTheTransactionSays) {
  Store store = home_.open();
  const Records plain = short_run(store, run_);
  Records ahead = plain;
  seal_all(store, ahead);
  store.append(plain).value();
  const std::vector<std::string> stored = payloads();
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    EXPECT_EQ(stored.at(i + 1), ahead[i].ahead->payload);
  }
}

TEST_F(SealAheadTest, IsSealedAnewWhenAnotherWriterWasFaster) {
  Store store = home_.open();
  Records records = short_run(store, run_);
  seal_all(store, records);
  {
    Store other = home_.open();
    other.append(short_run(other, test::TestRun())).value();
  }
  EXPECT_EQ(store.append(records).value().first_seq, 4U);
  EXPECT_EQ(payloads().size(), 7U);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

struct Misplaced {
  const char* why;
  std::function<void(Place&)> move;
};

TEST_F(SealAheadTest, IsSealedAnewUnlessNumberAndLinkAreRight) {
  const std::vector<Misplaced> rows = {
      {"number too small", [](Place& place) { place.seq = 0; }},
      {"number too large", [](Place& place) { ++place.seq; }},
      {"another link", [](Place& place) { place.prev = {}; }},
  };
  for (const Misplaced& row : rows) {
    const test::LedgerHome home;
    Store store = home.open();
    std::optional<Place> end;
    PendingRecord probe = run_.opened(store);
    store.seal_ahead(probe, end);
    std::optional<Place> place = probe.ahead->place;
    row.move(*place);
    const test::TestRun run;
    Records records = short_run(store, run);
    store.seal_ahead(records[0], place);
    ASSERT_TRUE(records[0].ahead.has_value()) << row.why;
    store.append(records).value();
    EXPECT_EQ(test::LedgerCheck::run(home.paths()), "") << row.why;
  }
}

TEST_F(SealAheadTest, WhatCannotBeSealedIsRefusedByTheAppend) {
  Store store = home_.open();
  schema::ProcessStarted body = test::started_body();
  body.exe = schema::PathBytes(std::string(66000, 'x'));
  Records records = {run_.opened(store), run_.record(body)};
  seal_all(store, records);
  EXPECT_FALSE(records[1].ahead.has_value());
  const auto appended = store.append(records);
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code(), schema::ErrorCode::kResourceExhausted);
  EXPECT_EQ(payloads().size(), 1U);
}

TEST_F(SealAheadTest, TheRulesOfARunHoldForASealedRecordToo) {
  Store store = home_.open();
  Records records = short_run(store, run_);
  records.push_back(run_.record(test::batch_body()));  // after the end of the run
  seal_all(store, records);
  EXPECT_FALSE(store.append(records).has_value());
  EXPECT_EQ(payloads().size(), 1U);
}

}  // namespace
}  // namespace aasm::ledger
