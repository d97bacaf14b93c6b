#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/init.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/store.h"

#include "support/ledger_check.h"
#include "support/ledger_home.h"

// A process killed between any two steps of an append leaves a ledger that opens, checks, and holds
// the transaction as a whole or not at all.
namespace aasm::ledger {
namespace {

// Kills the process when `step` comes for the `nth` time.
StoreOptions kill_at(AppendStep step, int nth) {
  return {[step, nth, seen = 0](AppendStep now) mutable {
    if (now == step && ++seen == nth) {
      raise(SIGKILL);
    }
  }};
}

// Runs `body` in a child and says whether SIGKILL ended it: that the point was reached.
template <class Body>
bool is_killed(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
         WTERMSIG(status) == SIGKILL;
}

struct Point {
  const char* why;
  AppendStep step;
  int nth;
  std::size_t records;  // in the ledger afterwards
};

class StoreCrashTest : public testing::TestWithParam<Point> {};

// The ledger holds record 0; the child appends two transactions of two records.
TEST_P(StoreCrashTest, TheLedgerIsWholeAfterwards) {
  const Point point = GetParam();
  const test::LedgerHome home;
  ASSERT_TRUE(is_killed([&] {
    const test::TestRun run;
    Store store = home.open(kill_at(point.step, point.nth));
    const std::vector<PendingRecord> first = {run.opened(store), run.record(test::batch_body())};
    const std::vector<PendingRecord> second = {run.record(test::batch_body()), run.closed()};
    static_cast<void>(store.append(first));
    static_cast<void>(store.append(second));
  })) << "the point was not reached";

  EXPECT_EQ(test::LedgerCheck::run(home.paths()), "");
  EXPECT_EQ(test::LedgerCheck::kinds(home.paths()).size(), point.records);
  Store store = home.open();
  const test::TestRun next;
  store.append(std::vector<PendingRecord>{next.opened(store), next.closed()}).value();
  EXPECT_EQ(test::LedgerCheck::run(home.paths()), "");
  EXPECT_EQ(test::LedgerCheck::kinds(home.paths()).size(), point.records + 2);
}

INSTANTIATE_TEST_SUITE_P(
    EveryStep, StoreCrashTest,
    testing::Values(Point{"LockHeld", AppendStep::kBegun, 1, 1},
                    Point{"HeadRead", AppendStep::kHeadRead, 1, 1},
                    Point{"FirstInsert", AppendStep::kRecordInserted, 1, 1},
                    Point{"SecondInsert", AppendStep::kRecordInserted, 2, 1},
                    Point{"BeforeCommit", AppendStep::kBeforeCommit, 1, 1},
                    Point{"Committed", AppendStep::kCommitted, 1, 3},
                    Point{"SecondLockHeld", AppendStep::kBegun, 2, 3},
                    Point{"ThirdInsert", AppendStep::kRecordInserted, 3, 3},
                    Point{"CheckpointInserted", AppendStep::kCheckpointInserted, 1, 3},
                    Point{"BeforeSecondCommit", AppendStep::kBeforeCommit, 2, 3},
                    Point{"SecondCommitted", AppendStep::kCommitted, 2, 5},
                    Point{"HeadReleased", AppendStep::kHeadReleased, 1, 5}),
    [](const auto& point) { return std::string(point.param.why); });

TEST(StoreCreateCrashTest, AnInterruptedCreationLeavesNoLedger) {
  for (const AppendStep step : {AppendStep::kRecordInserted, AppendStep::kCheckpointInserted}) {
    const test::TempDir dir;
    const LedgerPaths paths = LedgerPaths::in_home(dir.path().string());
    create_keys(paths.keys, "test.example/ledger/0123456789abcdef").value();
    ASSERT_TRUE(is_killed([&] {
      // Loaded here: keys in memory do not survive a fork.
      const RootKey root = load_root_key(paths.keys).value();
      static_cast<void>(
          Store::create(paths, root, load_keys(paths.keys).value(), "0", kill_at(step, 1)));
    }));
    EXPECT_NE(access(paths.ledger.c_str(), F_OK), 0);
    EXPECT_TRUE(initialise(dir.path().string(), paths, {"test.example", "0"}).has_value());
    EXPECT_EQ(test::LedgerCheck::run(paths), "");
  }
}

TEST(StoreCreateTest, LeavesNoTemporaryFile) {
  const test::LedgerHome home;
  for (const auto& entry : std::filesystem::directory_iterator(home.home())) {
    EXPECT_EQ(entry.path().filename().string().find(".new-"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace aasm::ledger
