#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/store.h"

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

}  // namespace
}  // namespace aasm::ledger
