#include "snapshot.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/crypto/hash.h"
#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/temp_dir.h"
#include "wal_mark.h"
#include "writer_home.h"

namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
namespace fs = std::filesystem;

VerifyReport judge(const std::string& path) {
  return verify(request_for(path, {}));
}

TEST(TargetTest, OnlyRegularFilesAreRead) {
  const aasm::test::TempDir dir;
  ASSERT_EQ(mkfifo(dir.file("fifo").c_str(), 0600), 0);
  fs::create_directory(dir.file("directory"));
  Forge forge;
  forge.write(dir.file("ledger.db"));
  fs::create_symlink(dir.file("ledger.db"), dir.file("link"));
  fs::create_symlink(dir.file("nothing"), dir.file("dangling"));
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  const std::string name = dir.file("socket");
  ASSERT_LT(name.size(), sizeof(address.sun_path));
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(bind(fd, reinterpret_cast<struct sockaddr*>(&address), sizeof(address)), 0);
  for (const std::string& path :
       {dir.file("fifo"), dir.file("directory"), dir.file("link"), dir.file("dangling"), name,
        std::string("/dev/zero"), std::string("/dev/null"), dir.file("directory") + "/",
        dir.file(".")}) {
    const VerifyReport report = judge(path);
    EXPECT_EQ(report.verdict, Verdict::kUnreadable) << path;
    EXPECT_EQ(codes(report), Codes{"target_not_regular"}) << path << report.text;
  }
  close(fd);
}

TEST(TargetTest, FilesBesideTheLedgerMustBeRegularToo) {
  for (const char* suffix : {"-wal", "-journal"}) {
    const aasm::test::TempDir dir;
    Forge forge;
    forge.write(dir.file("ledger.db"));
    ASSERT_EQ(mkfifo((dir.file("ledger.db") + suffix).c_str(), 0600), 0);
    EXPECT_EQ(codes(judge(dir.file("ledger.db"))), Codes{"target_not_regular"}) << suffix;
  }
}

TEST(TargetTest, WhatIsNoLedgerIsUnreadable) {
  const aasm::test::TempDir dir;
  EXPECT_EQ(codes(judge(dir.file("absent"))), Codes{"target_not_found"});
  EXPECT_EQ(codes(judge(dir.file("absent") + "/ledger.db")), Codes{"target_not_found"});
  EXPECT_EQ(codes(judge("")), Codes{"target_not_found"});
  spit(dir.file("empty"), "");
  EXPECT_EQ(codes(judge(dir.file("empty"))), Codes{"target_not_recognised"});
  spit(dir.file("text"), "hello, this is no database at all");
  EXPECT_EQ(codes(judge(dir.file("text"))), Codes{"target_not_recognised"});
  spit(dir.file("magic"), std::string("SQLite format 3\0", 16) + std::string(4000, 'x'));
  EXPECT_EQ(judge(dir.file("magic")).verdict, Verdict::kUnreadable);
  sqlite::Connection other =
      sqlite::Connection::open(dir.file("other.db"), sqlite::OpenMode::kCreateNew).value();
  other.execute("CREATE TABLE t(x)").value();
  EXPECT_EQ(codes(judge(dir.file("other.db"))), Codes{"target_not_recognised"});
}

TEST(TargetTest, ATruncatedLedgerIsNotVerified) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.add_sample_run(1);
  forge.write(dir.file("ledger.db"));
  const std::string bytes = slurp(dir.file("ledger.db"));
  for (std::size_t size = 1; size < bytes.size(); size += 1777) {
    spit(dir.file("cut.db"), bytes.substr(0, size));
    const VerifyReport report = verify(request_for(dir.file("cut.db"), trust_in(forge.keys())));
    EXPECT_TRUE(report.verdict == Verdict::kFailed || report.verdict == Verdict::kUnreadable)
        << size << report.text;
  }
}

// SQLite would open and then delete the file that such a journal names.
TEST(TargetTest, AJournalThatNamesAnotherFileIsNotReplayed) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  const std::string victim = dir.file("victim");
  spit(victim, "precious");
  std::string journal(512, '\0');
  journal += victim;
  journal += std::string("\0\0\0\x20\0\0\0\0", 8);
  journal += "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  spit(dir.file("ledger.db-journal"), journal);
  EXPECT_EQ(codes(judge(dir.file("ledger.db"))), Codes{"super_journal"});
  EXPECT_EQ(slurp(victim), "precious");
}

TEST(TargetTest, ASparseFileOfAnImpossibleSizeEndsAtOnce) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  fs::resize_file(dir.file("ledger.db"), std::uintmax_t{1} << 42U);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(codes(judge(dir.file("ledger.db"))), Codes{"target_too_large"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(TargetTest, ADirectoryForTheCopyThatIsNotThereIsUnreadable) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  request.scratch = dir.file("absent");
  EXPECT_EQ(codes(verify(request)), Codes{"scratch_unusable"});
}

std::map<std::string, std::string> listing(const std::string& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    struct stat status {};
    EXPECT_EQ(lstat(entry.path().c_str(), &status), 0);
    std::string line = std::to_string(status.st_mode) + " " + std::to_string(status.st_size) + " " +
                       std::to_string(status.st_mtim.tv_sec) + "." +
                       std::to_string(status.st_mtim.tv_nsec);
    if (entry.is_regular_file()) {
      line += " " + crypto::sha256(schema::as_bytes(slurp(entry.path().string()))).hex();
    }
    files[entry.path().string()] = line;
  }
  return files;
}

// Everything that is opened for writing, made, changed or removed in a directory tree.
class WriteWatch {
 public:
  explicit WriteWatch(const std::string& directory) : fd_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    constexpr std::uint32_t kWrites = IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE |
                                      IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
    EXPECT_GE(inotify_add_watch(fd_, directory.c_str(), kWrites), 0);
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_directory()) {
        EXPECT_GE(inotify_add_watch(fd_, entry.path().c_str(), kWrites), 0);
      }
    }
  }
  ~WriteWatch() { close(fd_); }
  bool saw_any() const {
    struct pollfd wait {
      fd_, POLLIN, 0
    };
    return poll(&wait, 1, 0) > 0;
  }

 private:
  int fd_;
};

// Holds the writer's connection open, so that -wal and -shm stand beside the ledger.
// Cases L35 and L37.
TEST(UntouchedTest, NothingBesideTheOriginalIsWrittenOrOpenedForWriting) {
  WriterHome home;
  home.add_sample_run();
  const ledger::Store held = home.home().open();
  ASSERT_TRUE(fs::exists(home.ledger() + "-wal"));
  const auto before = listing(home.home().home());
  const aasm::test::TempDir scratch;
  VerifyRequest request = home.request();
  request.scratch = scratch.path().string();
  {
    const WriteWatch watch(home.home().home());
    EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
    EXPECT_FALSE(watch.saw_any());
  }
  EXPECT_EQ(listing(home.home().home()), before);
  EXPECT_TRUE(fs::is_empty(scratch.path()));  // the private copy is gone
}

TEST(UntouchedTest, TheWatchOfThisTestSeesAWrite) {
  const aasm::test::TempDir dir;
  spit(dir.file("file"), "x");
  const WriteWatch watch(dir.path().string());
  EXPECT_FALSE(watch.saw_any());
  close(open(dir.file("file").c_str(), O_WRONLY | O_CLOEXEC));
  EXPECT_TRUE(watch.saw_any());
}

// Cases L36 and L38.
TEST(SnapshotTest, RecordsThatAreOnlyInTheWalAreSeen) {
  WriterHome home;
  // The last connection that closes folds the log into the database; this one stays.
  const ledger::Store other = home.home().open();
  home.add_sample_run();
  ASSERT_GT(fs::file_size(home.ledger() + "-wal"), 0U);
  const VerifyReport report = verify(home.request());
  EXPECT_EQ(report.verdict, Verdict::kVerified);
  EXPECT_EQ(value_at(report.json, "target/files")->as_array()->size(), 2U);
  EXPECT_EQ(number_at(report, "coverage/records"), 11);
}

TEST(SnapshotTest, TheReportedHashesAreThoseOfTheFiles) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  const VerifyReport report = judge(dir.file("ledger.db"));
  const auto& files = *value_at(report.json, "target/files")->as_array();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(*files[0].find("sha256")->as_string(),
            crypto::sha256(schema::as_bytes(slurp(dir.file("ledger.db")))).hex());
}

// systemd/systemd #27532: a verifier that runs beside a writer must not call the file corrupt.
class LiveWriterTest : public testing::Test {
 protected:
  // Appends short runs by `append`, at most `kMaxRuns`, while verify runs again and again.
  void verify_beside(const std::function<void()>& append) {
    constexpr int kMaxRuns = 300;
    home_.add_short_run();
    std::atomic<bool> stop{false};
    std::thread writer([&] {
      for (int i = 0; !stop && i < kMaxRuns; ++i) {
        append();
      }
    });
    for (int i = 0; i < 12; ++i) {
      const VerifyReport report = verify(home_.request());
      EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
    }
    stop = true;
    writer.join();
  }

  WriterHome home_;
};

// Case L1.
TEST_F(LiveWriterTest, VerifyBesideAWriterNeverFails) {
  ledger::Store store = home_.home().open();
  sqlite::Connection checkpointer =
      sqlite::Connection::open(home_.ledger(), sqlite::OpenMode::kReadWrite).value();
  verify_beside([&] {
    const aasm::test::TestRun run;
    store.append(std::vector<ledger::PendingRecord>{run.opened(store), run.closed()}).value();
    // RESTART makes the next append begin the WAL anew, which is what tears a naive copy.
    static_cast<void>(checkpointer.query_int("PRAGMA wal_checkpoint(RESTART)"));
  });
}

// A connection that folds the WAL away when it closes, and a writer that makes it anew.
TEST_F(LiveWriterTest, VerifyBesideWritersThatComeAndGoNeverFails) {
  verify_beside([&] {
    {
      ledger::Store store = home_.home().open();
      const aasm::test::TestRun run;
      store.append(std::vector<ledger::PendingRecord>{run.opened(store), run.closed()}).value();
    }
    doctor(home_.ledger(), "PRAGMA user_version=1");
  });
}

TEST(WalMarkTest, ARestartedWalIsNoticed) {
  WriterHome home;
  ledger::Store store = home.home().open();
  const auto append = [&] {
    const aasm::test::TestRun run;
    store.append(std::vector<ledger::PendingRecord>{run.opened(store), run.closed()}).value();
  };
  append();
  Step<SourceDir> source = open_source_dir(home.ledger());
  ASSERT_NE(source.value(), nullptr);
  const WalMark before = *read_wal_mark(*source.value()).value();
  append();
  EXPECT_TRUE(still_consistent(before, *read_wal_mark(*source.value()).value()));
  doctor(home.ledger(), "PRAGMA wal_checkpoint(RESTART)");
  append();
  EXPECT_FALSE(still_consistent(before, *read_wal_mark(*source.value()).value()));
}

TEST(WalMarkTest, WithoutAWalAnyChangeOfTheDatabaseIsNoticed) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  // A change within the tick of file timestamps would not show, so a file just written never counts
  // as unchanged.
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  Step<SourceDir> source = open_source_dir(dir.file("ledger.db"));
  const WalMark before = *read_wal_mark(*source.value()).value();
  EXPECT_TRUE(still_consistent(before, *read_wal_mark(*source.value()).value()));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // timestamps have a tick
  doctor(dir.file("ledger.db"), "DELETE FROM checkpoints");
  EXPECT_FALSE(still_consistent(before, *read_wal_mark(*source.value()).value()));
}

TEST(ReadLockTest, WhileCheckpointsAreLockedNobodyCanCheckpoint) {
  WriterHome home;
  const ledger::Store store = home.home().open();
  ASSERT_TRUE(fs::exists(home.ledger() + "-shm"));
  Step<SourceDir> source = open_source_dir(home.ledger());
  sqlite::Connection db =
      sqlite::Connection::open(home.ledger(), sqlite::OpenMode::kReadWrite).value();
  {
    Step<ReadLock> lock =
        ReadLock::on_checkpoints(*source.value(), std::chrono::milliseconds(1000));
    ASSERT_TRUE(lock.value()->held());
    EXPECT_EQ(db.query_int("PRAGMA wal_checkpoint(RESTART)").value(), 1);  // busy
  }
  EXPECT_EQ(db.query_int("PRAGMA wal_checkpoint(RESTART)").value(), 0);
}

TEST(ReadLockTest, WhileTheDatabaseIsLockedNobodyFoldsItsWalAway) {
  WriterHome home;
  Step<SourceDir> source = open_source_dir(home.ledger());
  for (const bool locked : {true, false}) {
    ReadLock lock;
    if (locked) {
      lock = std::move(
          *ReadLock::on_database(*source.value(), std::chrono::milliseconds(1000)).value());
      ASSERT_TRUE(lock.held());
    }
    // Without keep_wal_on_close() the last connection to close deletes the WAL.
    doctor(home.ledger(), "PRAGMA user_version=1");
    EXPECT_EQ(fs::exists(home.ledger() + "-wal"), locked);
  }
}

TEST(ReadLockTest, WithoutAFileNothingIsHeld) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  Step<SourceDir> source = open_source_dir(dir.file("ledger.db"));
  EXPECT_FALSE(
      ReadLock::on_checkpoints(*source.value(), std::chrono::milliseconds(0)).value()->held());
}

}  // namespace
}  // namespace aasm::verifier::test
