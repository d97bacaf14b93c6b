#include "aasm/ledger/ledger_sink.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/reader.h"

#include "support/ledger_check.h"
#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;

class LedgerSinkTest : public testing::Test {
 protected:
  std::unique_ptr<LedgerSink> make(StoreOptions options = {}) const {
    return LedgerSink::create(home_.open(std::move(options)), home_.paths()).value();
  }
  std::vector<std::string> kinds() const { return test::LedgerCheck::kinds(home_.paths()); }
  std::string lock_path() const { return home_.paths().runs + "/" + run_.text() + ".lock"; }
  bool exists(const std::string& path) const { return access(path.c_str(), F_OK) == 0; }

  test::LedgerHome home_;
  schema::RunId run_ = test::new_run();
};

TEST_F(LedgerSinkTest, AShortRunCostsTwoCommits) {
  std::atomic<int> commits{0};
  const auto sink =
      make({[&commits](AppendStep step) { commits += step == AppendStep::kCommitted ? 1 : 0; }});
  sink->open_run(run_, test::opened_body()).value();
  sink->submit(test::batch_body());
  sink->flush().value();
  sink->submit(test::started_body());
  sink->submit(test::exited_body());
  const schema::ClosedRun closed = sink->close_run(test::closed_body()).value();
  EXPECT_EQ(commits, 2);
  EXPECT_EQ(closed.opened_seq, 1);
  EXPECT_EQ(closed.closed_seq, 5);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
  // The checkpoint handed out is the one over run.closed.
  const auto note = ledger_format::parse_signed_checkpoint(closed.checkpoint).value();
  EXPECT_EQ(note.checkpoint.size, 6U);
}

TEST_F(LedgerSinkTest, RunClosedCountsTheRecordsBeforeIt) {
  const auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  sink->submit(test::batch_body());
  sink->submit(test::batch_body());
  const auto closed = sink->close_run(test::closed_body()).value();
  const StoredRecord record = LedgerReader::open(home_.paths().ledger)
                                  .value()
                                  .record(static_cast<std::uint64_t>(closed.closed_seq))
                                  .value();
  EXPECT_EQ(schema::read_fields<schema::RunClosed>(record.statement.body).value().records, 3);
}

TEST_F(LedgerSinkTest, RunOpenedNamesTheNewestCheckpoint) {
  const std::string newest = home_.open().newest_checkpoint();
  const auto sink = make();
  EXPECT_EQ(sink->open_run(run_, test::opened_body()).value().checkpoint, newest);
}

TEST_F(LedgerSinkTest, TheRunIsLockedWhileItIsOpen) {
  auto sink = make();
  EXPECT_FALSE(exists(lock_path()));
  sink->open_run(run_, test::opened_body()).value();
  const int other = open(lock_path().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  EXPECT_NE(flock(other, LOCK_EX | LOCK_NB), 0);
  sink->close_run(test::closed_body()).value();
  EXPECT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  EXPECT_FALSE(exists(lock_path()));
  close(other);
}

TEST_F(LedgerSinkTest, TheLockFileOfARunThatWasNotClosedStaysUnlocked) {
  auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  sink.reset();
  const int other = open(lock_path().c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  EXPECT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  close(other);
}

TEST_F(LedgerSinkTest, ARunIdIsUsedOnce) {
  const auto first = make();
  const auto second = make();
  first->open_run(run_, test::opened_body()).value();
  const auto again = second->open_run(run_, test::opened_body());
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code(), ErrorCode::kConflict);
}

TEST_F(LedgerSinkTest, WithoutAFlushNothingIsWrittenWhenTheSinkGoes) {
  auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  sink.reset();
  EXPECT_EQ(kinds(), std::vector<std::string>{"ledger.created"});
}

TEST_F(LedgerSinkTest, WhatIsStreamingIsWrittenWhenTheSinkGoes) {
  auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  sink->flush().value();
  sink->start_streaming();
  sink->submit(test::batch_body());
  sink.reset();
  EXPECT_EQ(kinds().size(), 3U);
}

TEST_F(LedgerSinkTest, ABlobThatNoRecordNamesIsNotWritten) {
  const auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  sink->stage_blob("unnamed").value();
  sink->close_run(test::closed_body()).value();
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
  EXPECT_EQ(LedgerReader::open(home_.paths().ledger).value().status().value().blobs, 0U);
}

TEST_F(LedgerSinkTest, ABlobPastTheLimitIsRefusedWithoutHarm) {
  const auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  EXPECT_FALSE(sink->stage_blob(std::string(kBlobMaxBytes + 1, 'x')).has_value());
  EXPECT_TRUE(sink->close_run(test::closed_body()).has_value());
}

TEST_F(LedgerSinkTest, ABodyItsReaderWouldRefuseFailsTheSink) {
  const auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  sink->submit(schema::ProcessExited{});
  ASSERT_TRUE(sink->failure().has_value());
  EXPECT_EQ(sink->failure()->code(), ErrorCode::kInvalidArgument);
}

TEST_F(LedgerSinkTest, AHeadFileThatCannotBeWrittenIsReportedAndHarmsNoEvidence) {
  const auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  ASSERT_EQ(chmod(home_.paths().heads.c_str(), 0755), 0);
  EXPECT_TRUE(sink->close_run(test::closed_body()).has_value());
  ASSERT_TRUE(sink->head_lag().has_value());
  EXPECT_EQ(sink->head_lag()->code(), ErrorCode::kPermissionDenied);
  ASSERT_EQ(chmod(home_.paths().heads.c_str(), 0700), 0);
  EXPECT_TRUE(home_.try_open().has_value());
}

std::size_t times_open(const std::string& path) {
  std::size_t times = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    times += std::filesystem::read_symlink(entry.path(), gone) == path ? 1U : 0U;
  }
  return times;
}

TEST_F(LedgerSinkTest, TheLedgerIsClosedBehindTheRunWhereThatIsAskedFor) {
  const std::string ledger = std::filesystem::canonical(home_.paths().ledger);
  for (const bool asked : {false, true}) {
    const auto sink = make();
    if (asked) {
      sink->close_when_done();
    }
    sink->open_run(run_, test::opened_body()).value();
    EXPECT_EQ(times_open(ledger), 1U);
    sink->close_run(test::closed_body()).value();
    EXPECT_FALSE(sink->head_lag().has_value());
    for (int i = 0; asked && times_open(ledger) > 0 && i < 2000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(times_open(ledger), asked ? 0U : 1U);
    run_ = test::new_run();
  }
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

TEST_F(LedgerSinkTest, TooManyWaitingRecordsFailTheSink) {
  const auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  for (std::size_t i = 1; i < LedgerSink::kMaxStagedRecords; ++i) {
    sink->submit(test::batch_body());
  }
  EXPECT_FALSE(sink->failure().has_value());
  sink->submit(test::batch_body());
  ASSERT_TRUE(sink->failure().has_value());
  EXPECT_EQ(sink->failure()->code(), ErrorCode::kResourceExhausted);
}

TEST_F(LedgerSinkTest, ManyStreamedRecordsAllArriveAndCheck) {
  const auto sink = make();
  sink->open_run(run_, test::opened_body()).value();
  sink->flush().value();
  sink->start_streaming();
  for (int i = 0; i < 700; ++i) {
    sink->submit(test::batch_body());
  }
  const auto closed = sink->close_run(test::closed_body()).value();
  EXPECT_EQ(closed.closed_seq, 702);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
}

TEST_F(LedgerSinkTest, SinksOfOneProcessShareALedger) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, &good] {
      auto sink = make();
      bool ok = sink->open_run(test::new_run(), test::opened_body()).has_value();
      ok = ok && sink->flush().has_value();
      sink->start_streaming();
      for (int i = 0; i < 20; ++i) {
        sink->submit(test::batch_body());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      good += ok && sink->close_run(test::closed_body()).has_value() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good, 4);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
  EXPECT_EQ(kinds().size(), 1U + 4 * 22);
}

// Writes until a commit fails; the exit status of the child that does it is the number of the
// first expectation that fails, or 0.
int write_until_failure(LedgerSink& sink, ErrorCode wanted) {
  schema::Result<void> flushed;
  for (int i = 0; i < 1000 && flushed.has_value(); ++i) {
    sink.submit(test::batch_body());
    flushed = sink.flush();
  }
  if (flushed.has_value()) {
    return 2;
  }
  if (flushed.error().code() != wanted) {
    return 3;
  }
  pollfd entry{sink.failure_fd(), POLLIN, 0};
  if (poll(&entry, 1, 0) != 1) {
    return 4;
  }
  // Room again changes nothing: the run has a hole now.
  return sink.flush().has_value() || sink.close_run(test::closed_body()).has_value() ? 5 : 0;
}

int exit_status_of(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(body());
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                               : -1;
}

TEST_F(LedgerSinkTest, AFileSizeLimitFailsTheSinkForGood) {
  const int status = exit_status_of([this] {
    signal(SIGXFSZ, SIG_IGN);
    const auto sink = make();
    if (!sink->open_run(run_, test::opened_body()).has_value() || !sink->flush().has_value()) {
      return 1;
    }
    const rlimit limit{100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    // SQLite reports it as a failed write without the reason.
    return write_until_failure(*sink, ErrorCode::kUnavailable);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(test::LedgerCheck::run(home_.paths()), "");
  EXPECT_TRUE(home_.try_open().has_value());
}

constexpr int kNoMount = 77;

// A file system of six megabytes for this process alone.
bool mount_small_disk(const std::string& path) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", path.c_str(), "tmpfs", 0, "size=6m") == 0;
}

void fill(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string page(4096, 'x');
  while (write(fd, page.data(), page.size()) > 0) {
  }
  close(fd);
}

// On a small disk, in a child: `body` gets the paths of a new ledger there and returns 0 when all
// was as it should be. Skips where nothing can be mounted.
template <class Body>
void on_small_disk(const Body& body) {
  const test::TempDir disk;
  const int status = exit_status_of([&] {
    if (!mount_small_disk(disk.path().string())) {
      return kNoMount;
    }
    const LedgerPaths paths = LedgerPaths::in_home(disk.file("home"));
    initialise(disk.file("home"), paths, {"test.example", "0"}).value();
    return body(paths, disk.path().string());
  });
  if (status == kNoMount) {
    GTEST_SKIP() << "mounting needs privileges";
  }
  EXPECT_EQ(status, 0);
}

schema::Result<Store> open_store(const LedgerPaths& paths) {
  return Store::open(paths, load_keys(paths.keys).value());
}

// Submits and flushes until the sink says that the disk is full; false when it failed outright.
bool write_until_warned(LedgerSink& sink) {
  for (int i = 0; i < 2000 && !sink.failure(); ++i) {
    sink.submit(test::batch_body());
    if (!sink.flush().has_value()) {
      return false;
    }
  }
  return sink.failure().has_value();
}

TEST_F(LedgerSinkTest, OnAFullDiskTheReserveTakesTheEndOfTheRunAndNewRunsAreRefused) {
  on_small_disk([](const LedgerPaths& paths, const std::string& disk) {
    const auto sink = LedgerSink::create(open_store(paths).value(), paths).value();
    if (!sink->open_run(test::new_run(), test::opened_body()) || !sink->flush()) {
      return 1;
    }
    fill(disk + "/filler");
    if (!write_until_warned(*sink)) {
      return 2;
    }
    pollfd entry{sink->failure_fd(), POLLIN, 0};
    if (poll(&entry, 1, 0) != 1 || sink->failure()->code() != ErrorCode::kResourceExhausted) {
      return 3;
    }
    sink->submit(test::exited_body());
    if (!sink->close_run(test::closed_body())) {
      return 4;
    }
    if (open_store(paths).has_value() || test::LedgerCheck::run(paths) != "") {
      return 5;
    }
    std::filesystem::remove(disk + "/filler");
    return open_store(paths).has_value() && test::LedgerCheck::run(paths).empty() ? 0 : 6;
  });
}

TEST_F(LedgerSinkTest, WithoutTheReserveAFullDiskFailsTheSinkForGoodAndHarmsNothing) {
  on_small_disk([](const LedgerPaths& paths, const std::string& disk) {
    {
      const auto sink = LedgerSink::create(open_store(paths).value(), paths).value();
      if (!sink->open_run(test::new_run(), test::opened_body()) || !sink->flush()) {
        return 1;
      }
      std::filesystem::remove(paths.ledger + ".reserve");
      fill(disk + "/filler");
      const int wrong = write_until_failure(*sink, ErrorCode::kResourceExhausted);
      if (wrong != 0) {
        return 10 + wrong;
      }
      if (open_store(paths).has_value() || test::LedgerCheck::run(paths) != "") {
        return 2;
      }
    }
    std::filesystem::remove(disk + "/filler");
    const bool recovered = open_store(paths).has_value();
    return recovered && test::LedgerCheck::run(paths).empty() &&
                   test::LedgerCheck::kinds(paths).back() == "run.recovered"
               ? 0
               : 3;
  });
}

}  // namespace
}  // namespace aasm::ledger
