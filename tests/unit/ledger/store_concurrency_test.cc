#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/reader.h"
#include "aasm/ledger/store.h"
#include "aasm/ledger_format/note.h"

#include "head_file.h"
#include "ledger_db.h"
#include "support/ledger_check.h"
#include "support/ledger_home.h"

// docs/spec/ledger-format.md rule 4.1: threads of one process as well as processes.
namespace aasm::ledger {
namespace {

constexpr int kAppends = 12;  // of each writer, besides run.opened and run.closed

// Appends one run in many small transactions. True when every append succeeded.
bool write_run(const test::LedgerHome& home) {
  auto store = home.try_open();
  if (!store) {
    return false;
  }
  const test::TestRun run;
  bool good = store->append(std::vector<PendingRecord>{run.opened(*store)}).has_value();
  for (int i = 0; good && i < kAppends; ++i) {
    good = store->append(run.batches(1)).has_value();
  }
  return good && store->append(std::vector<PendingRecord>{run.closed()}).has_value();
}

bool write_runs_in_threads(const test::LedgerHome& home, int count) {
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] { good += write_run(home) ? 1 : 0; });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  return good == count;
}

void expect_everything_is_there(const test::LedgerHome& home, std::size_t num_runs) {
  EXPECT_EQ(test::LedgerCheck::run(home.paths()), "");
  const std::vector<std::string> kinds = test::LedgerCheck::kinds(home.paths());
  EXPECT_EQ(kinds.size(), 1 + num_runs * (kAppends + 2));
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "run.closed"),
            static_cast<std::ptrdiff_t>(num_runs));
  LedgerReader reader = LedgerReader::open(home.paths().ledger).value();
  const std::vector<RunSummary> runs = reader.runs(1000).value();
  EXPECT_EQ(runs.size(), num_runs);
  for (const RunSummary& run : runs) {
    int records = 0;
    reader
        .visit_run(run.run,
                   [&](const StoredRecord&) -> schema::Result<void> {
                     ++records;
                     return {};
                   })
        .value();
    EXPECT_EQ(records, kAppends + 2);
  }
  // The last record is the end of a run, so the newest note of all was released.
  const KeySet keys = home.keys();
  const auto log = ledger_format::VerifierKey::make(
                       keys.origin, ledger_format::NoteKeyType::kEd25519, keys.log.public_key())
                       .value();
  const auto head = read_head_file(home.paths().heads, log).value();
  ASSERT_TRUE(head.has_value());
  EXPECT_EQ(head->checkpoint.size, kinds.size());
}

// Cases L4 and L6.
TEST(StoreConcurrencyTest, ThreadsOfOneProcessLoseNothing) {
  const test::LedgerHome home;
  EXPECT_TRUE(write_runs_in_threads(home, 4));
  expect_everything_is_there(home, 4);
}

TEST(StoreConcurrencyTest, FourProcessesOfFourThreadsLoseNothing) {
  const test::LedgerHome home;
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      _exit(write_runs_in_threads(home, 4) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  expect_everything_is_there(home, 16);
}

TEST(StoreConcurrencyTest, AWriterThatWaitsTooLongIsToldUnavailable) {
  const test::LedgerHome home;
  Store store = home.open();
  auto blocker =
      sqlite::Connection::open(home.paths().ledger, sqlite::OpenMode::kReadWrite).value();
  const sqlite::Transaction held = blocker.begin_immediate().value();
  const test::TestRun run;
  const auto begin = std::chrono::steady_clock::now();
  const auto appended = store.append(std::vector<PendingRecord>{run.opened(store)});
  ASSERT_FALSE(appended.has_value());
  EXPECT_EQ(appended.error().code(), schema::ErrorCode::kUnavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(4500));
}

// What lets an append leave out reading the head.
TEST(LedgerDbTest, TheVersionChangesWithCommitsOfOthersOnly) {
  const test::LedgerHome home;
  LedgerDb db = LedgerDb::open(home.paths().ledger).value();
  const auto version = [&db] {
    const sqlite::Transaction transaction = db.begin().value();
    return db.version().value();
  };
  const std::int64_t first = version();
  EXPECT_EQ(version(), first);
  {
    sqlite::Transaction transaction = db.begin().value();
    db.insert(make_blob("ours").value()).value();
    transaction.commit().value();
  }
  EXPECT_EQ(version(), first);
  LedgerDb other = LedgerDb::open(home.paths().ledger).value();
  sqlite::Transaction transaction = other.begin().value();
  other.insert(make_blob("another's").value()).value();
  transaction.commit().value();
  EXPECT_NE(version(), first);
}

TEST(HeadFileTest, IsNeverReplacedByASmallerSize) {
  const test::LedgerHome home;
  const KeySet keys = home.keys();
  const auto log = ledger_format::VerifierKey::make(
                       keys.origin, ledger_format::NoteKeyType::kEd25519, keys.log.public_key())
                       .value();
  const auto release = [&](std::uint64_t size) {
    const std::string note =
        ledger_format::sign_checkpoint({keys.origin, size, {}}, keys.log).value();
    release_head(home.paths().heads, log, size, note).value();
    return read_head_file(home.paths().heads, log).value()->checkpoint.size;
  };
  EXPECT_EQ(release(20), 20U);
  EXPECT_EQ(release(10), 20U);
  EXPECT_EQ(release(20), 20U);
  EXPECT_EQ(release(21), 21U);
}

TEST(HeadFileTest, ManyReleasersLeaveTheLargest) {
  const test::LedgerHome home;
  const KeySet keys = home.keys();
  const auto log = ledger_format::VerifierKey::make(
                       keys.origin, ledger_format::NoteKeyType::kEd25519, keys.log.public_key())
                       .value();
  std::vector<std::thread> threads;
  for (std::uint64_t start = 2; start < 6; ++start) {
    threads.emplace_back([&, start] {
      for (std::uint64_t size = start; size < 100; size += 4) {
        const std::string note =
            ledger_format::sign_checkpoint({keys.origin, size, {}}, keys.log).value();
        release_head(home.paths().heads, log, size, note).value();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(read_head_file(home.paths().heads, log).value()->checkpoint.size, 99U);
}

}  // namespace
}  // namespace aasm::ledger
