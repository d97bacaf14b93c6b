#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "aasm/crypto/hash.h"

#include "judge.h"
#include "scratch_dir.h"
#include "snapshot.h"
#include "support/temp_dir.h"
#include "writer_home.h"

// What the private copy may take, and what is left of it when the verifier is ended from outside.
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
namespace fs = std::filesystem;

TEST(TargetTest, TheLimitIsOnAllFilesTogether) {
  WriterHome home;
  const ledger::Store held = home.home().open();
  home.add_sample_run();
  const std::uintmax_t database = fs::file_size(home.ledger());
  const std::uintmax_t wal = fs::file_size(home.ledger() + "-wal");
  ASSERT_GT(wal, 0U);
  VerifyRequest request = home.request();
  request.max_bytes = database + wal + (std::uintmax_t{128} << 10U);  // what blocks add on disk
  EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
  request.max_bytes = database + wal - 1;
  const VerifyReport report = verify(request);
  EXPECT_EQ(report.verdict, Verdict::kUnreadable);
  EXPECT_EQ(codes(report), Codes{"target_too_large"});
  EXPECT_NE(report.text.find("--max-size"), std::string::npos);
}

// Forty gigabytes that take no room must take none of ours, nor the time to read them.
TEST(TargetTest, ALargeSparseFileIsRefusedByItsSize) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  fs::resize_file(dir.file("ledger.db"), std::uintmax_t{40} << 30U);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(codes(verify(request_for(dir.file("ledger.db"), {}))), Codes{"target_too_large"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(SnapshotTest, HolesStayHolesInTheCopy) {
  const aasm::test::TempDir dir;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  const std::uintmax_t before = fs::file_size(dir.file("ledger.db"));
  fs::resize_file(dir.file("ledger.db"), std::uintmax_t{32} << 20U);
  Step<ScratchDir> scratch = ScratchDir::make(dir.path().string());
  Step<Snapshot> taken = take_snapshot(dir.file("ledger.db"), *scratch.value(), kDefaultMaxBytes);
  ASSERT_NE(taken.value(), nullptr);
  struct stat status {};
  ASSERT_EQ(fstat(taken.value()->copies.at(0).fd.get(), &status), 0);
  EXPECT_EQ(status.st_size, off_t{32} << 20U);
  EXPECT_LT(static_cast<std::uintmax_t>(status.st_blocks) * 512,
            before + (std::uintmax_t{1} << 20U));
  EXPECT_EQ(taken.value()->files.at(0).digest,
            crypto::sha256(schema::as_bytes(slurp(dir.file("ledger.db")))));
}

// A child that verifies and is ended from outside at some point; true when `signal` ended it.
bool end_verifier(VerifyRequest request, int signal, bool while_copying) {
  const pid_t child = fork();
  if (child == 0) {
    request.progress = [signal](std::uint64_t, std::uint64_t) { kill(getpid(), signal); };
    verify(request);
    _exit(0);
  }
  if (while_copying) {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    kill(child, signal);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

TEST(LeftoverTest, AVerifierThatIsEndedWhileItScansLeavesNothing) {
  const aasm::test::TempDir dir;
  const aasm::test::TempDir scratch;
  Forge forge;
  forge.add_sample_run(1);
  forge.write(dir.file("ledger.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  request.scratch = scratch.path().string();
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    EXPECT_TRUE(end_verifier(request, signal, false)) << signal;
    EXPECT_TRUE(fs::is_empty(scratch.path())) << signal;
  }
}

TEST(LeftoverTest, AVerifierThatIsEndedWhileItCopiesLeavesNothing) {
  const aasm::test::TempDir dir;
  const aasm::test::TempDir scratch;
  Forge forge;
  forge.write(dir.file("ledger.db"));
  fs::resize_file(dir.file("ledger.db"), (std::uintmax_t{4} << 30U) - 4096);  // takes a while
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  request.scratch = scratch.path().string();
  for (const int signal : {SIGTERM, SIGKILL}) {
    EXPECT_TRUE(end_verifier(request, signal, true)) << signal;
    EXPECT_TRUE(fs::is_empty(scratch.path())) << signal;
  }
}

}  // namespace
}  // namespace aasm::verifier::test
