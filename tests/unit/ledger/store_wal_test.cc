#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/store.h"
#include "aasm/sqlite/connection.h"

#include "support/ledger_check.h"
#include "support/ledger_home.h"

// docs/spec/ledger-format.md rule 4.9: the WAL stays between processes, and stays small.
namespace aasm::ledger {
namespace {

using Records = std::vector<PendingRecord>;

constexpr std::uintmax_t kFrameBytes = 4096 + 24;

class StoreWalTest : public testing::Test {
 protected:
  // As one process does it: open, a short run, close.
  void one_run() const {
    const test::TestRun run;
    Store store = home_.open();
    store.append(Records{run.opened(store), run.record(test::batch_body())}).value();
    store.append(Records{run.closed()}).value();
  }
  std::uintmax_t wal_bytes() const {
    return std::filesystem::file_size(home_.paths().ledger + "-wal");
  }
  std::uintmax_t database_bytes() const { return std::filesystem::file_size(home_.paths().ledger); }

  test::LedgerHome home_;
};

TEST_F(StoreWalTest, TheLastCloseLeavesTheWalAlone) {
  const std::uintmax_t before = database_bytes();
  const auto changed = std::filesystem::last_write_time(home_.paths().ledger);
  one_run();
  EXPECT_GT(wal_bytes(), kFrameBytes);
  EXPECT_EQ(database_bytes(), before);
  EXPECT_EQ(std::filesystem::last_write_time(home_.paths().ledger), changed);
  one_run();
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

TEST_F(StoreWalTest, ALongWalIsFoldedByTheCommitThatMadeItLong) {
  const std::uintmax_t before = database_bytes();
  for (int i = 0; i < 60; ++i) {
    one_run();
    ASSERT_LT(wal_bytes(), 192 * kFrameBytes) << "after run " << i;
  }
  EXPECT_GT(database_bytes(), before);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

class LargeCommitTest : public StoreWalTest {
 protected:
  // More than 4 MiB of WAL in one transaction.
  void commit_much(Store& store, test::TestRun& run) const {
    Records records{run.opened(store)};
    for (int i = 0; i < 6000; ++i) {
      records.push_back(run.record(test::batch_body()));
    }
    store.append(records).value();
  }
};

TEST_F(LargeCommitTest, ItsWalIsEmptied) {
  Store store = home_.open();
  test::TestRun run;
  commit_much(store, run);
  EXPECT_EQ(wal_bytes(), 0U);
  store.append(Records{run.closed()}).value();
  EXPECT_GT(wal_bytes(), 0U);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

TEST_F(LargeCommitTest, AReaderKeepsItAndIsNotWaitedFor) {
  sqlite::Connection reader =
      sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadWrite).value();
  reader.keep_wal_on_close().value();
  sqlite::Transaction reading = reader.begin_deferred().value();
  ASSERT_GT(reader.query_int("SELECT count(*) FROM records").value(), 0);
  Store store = home_.open();
  test::TestRun run;
  const auto begin = std::chrono::steady_clock::now();
  commit_much(store, run);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "the busy time";
  EXPECT_GT(wal_bytes(), std::uintmax_t{4} << 20);
  reading.commit().value();
  store.append(Records{run.closed()}).value();
  EXPECT_EQ(wal_bytes(), 0U);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

TEST_F(StoreWalTest, OneThatManySmallCommitsGrewBesideAReaderIsEmptiedWhenItIsGone) {
  sqlite::Connection reader =
      sqlite::Connection::open(home_.paths().ledger, sqlite::OpenMode::kReadWrite).value();
  reader.keep_wal_on_close().value();
  sqlite::Transaction reading = reader.begin_deferred().value();
  ASSERT_GT(reader.query_int("SELECT count(*) FROM records").value(), 0);
  Store store = home_.open();
  const test::TestRun run;
  store.append(Records{run.opened(store)}).value();
  const std::uintmax_t once = wal_bytes();
  for (int i = 0; wal_bytes() < std::uintmax_t{4} << 20; ++i) {
    ASSERT_LT(i, 400);
    store.append(run.batches(20)).value();
  }
  EXPECT_LT(once, wal_bytes() / 20);
  reading.commit().value();
  store.append(run.batches(300)).value();  // enough to look at it again
  EXPECT_LT(wal_bytes(), 192 * kFrameBytes);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

}  // namespace
}  // namespace aasm::ledger
