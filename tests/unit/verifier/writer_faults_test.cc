#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/init.h"
#include "aasm/ledger/key_change.h"
#include "aasm/ledger/keystore.h"
#include "aasm/ledger/store.h"
#include "aasm/verifier/verifier.h"

#include "judge.h"
#include "run_lock.h"
#include "support/fault_vfs.h"
#include "support/ledger_home.h"
#include "support/temp_dir.h"
#include "writer_home.h"

// The writer at every operation on its files: killed, cut off from power, or told that it failed.
// Afterwards no acknowledged record is missing, nothing verifies as FAILED, and the next run works.
// What is not done through SQLite (key files, head file, locks, renames) is not cut.
namespace aasm::verifier::test {
namespace {

using aasm::test::Fault;
using aasm::test::TestRun;
using Records = std::vector<ledger::PendingRecord>;

struct Told {
  int acknowledged = 0;  // records that an append or the opening said are durable
  int operations = 0;
  int status = 0;  // of waitpid
  bool hit = false;
};

void tell(int pipe, char kind, int number) {
  const std::string line = std::string(1, kind) + std::to_string(number) + "\n";
  static_cast<void>(!write(pipe, line.data(), line.size()));
}

schema::PolicyResolved policy_body() {
  schema::PolicyResolved body;
  body.source_kind = "none";
  return body;
}

schema::RunClosed closed_after(std::int64_t records) {
  schema::RunClosed body = aasm::test::closed_body();
  body.records = records;
  return body;
}

bool rotate_both(const ledger::LedgerPaths& paths, int pipe) {
  for (const auto purpose : {ledger_format::KeyPurpose::kLog, ledger_format::KeyPurpose::kHost}) {
    const auto changed = ledger::rotate_key(paths, purpose);
    if (!changed) {
      return false;
    }
    tell(pipe, 'a', static_cast<int>(changed->keys.back().since) + 1);
  }
  return true;
}

// init, a run, a rotation of both keys, a run that is left, the opening that recovers it, and a
// third run. Stops at the first failure, as aasm does.
void session(const std::string& home, int pipe) {
  const ledger::LedgerPaths paths = ledger::LedgerPaths::in_home(home);
  if (!ledger::initialise(home, paths, {"test.example", "0"})) {
    return;
  }
  tell(pipe, 'a', 1);
  for (int number = 1; number <= 3; ++number) {
    auto store = ledger::Store::open(paths, ledger::load_keys(paths.keys).value());
    if (!store) {
      return;
    }
    tell(pipe, 'a', static_cast<int>(store->size()));
    const TestRun run;
    auto lock = ledger::RunLock::take(paths.runs, run.id(), {store->origin(), store->size()});
    if (!lock || !store->append(Records{run.opened(*store), run.record(policy_body())})) {
      return;
    }
    tell(pipe, 'a', static_cast<int>(store->size()));
    if (number == 2) {
      continue;  // the lock goes, its file stays
    }
    if (!store->append(Records{run.record(closed_after(2))})) {
      return;
    }
    tell(pipe, 'a', static_cast<int>(store->size()));
    lock->finish();
    if (number == 1 && !rotate_both(paths, pipe)) {
      return;
    }
  }
}

Told run_session(const std::string& home, Fault fault, int at) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    aasm::test::plan_fault(fault, at);
    session(home, ends[1]);
    tell(ends[1], 'n', aasm::test::num_operations());
    _exit(aasm::test::fault_hit() ? aasm::test::kExitCut : 0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  Told told;
  EXPECT_EQ(waitpid(child, &told.status, 0), child);
  told.hit = WIFEXITED(told.status) && WEXITSTATUS(told.status) == aasm::test::kExitCut;
  for (std::size_t at_line = 0; at_line < text.size();) {
    const std::size_t end = text.find('\n', at_line);
    (text[at_line] == 'a' ? told.acknowledged : told.operations) = atoi(text.c_str() + at_line + 1);
    at_line = end + 1;
  }
  return told;
}

void expect_usable(const std::string& home, const Told& told, const std::string& where) {
  const ledger::LedgerPaths paths = ledger::LedgerPaths::in_home(home);
  if (access(paths.ledger.c_str(), F_OK) == 0) {
    const VerifyReport before = verify(request_for(paths.ledger, trust_of(paths)));
    EXPECT_NE(before.verdict, Verdict::kFailed) << where << before.text;
    EXPECT_GE(number_at(before, "coverage/records"), told.acknowledged) << where << before.text;
  } else {
    EXPECT_EQ(told.acknowledged, 0) << where;
  }
  const auto made = ledger::initialise(home, paths, {"test.example", "0"});
  ASSERT_TRUE(made.has_value()) << where << made.error().message();
  auto store = ledger::Store::open(paths, ledger::load_keys(paths.keys).value());
  ASSERT_TRUE(store.has_value()) << where << store.error().message();
  const TestRun run;
  const auto appended = store->append(Records{run.opened(*store), run.closed()});
  ASSERT_TRUE(appended.has_value()) << where << appended.error().message();
  const VerifyReport after = verify(request_for(paths.ledger, trust_of(paths)));
  EXPECT_EQ(after.verdict, Verdict::kVerified) << where << after.text;
  EXPECT_GE(number_at(after, "coverage/records"), told.acknowledged + 2) << where;
}

int count_operations() {
  const aasm::test::TempDir dir;
  const Told told = run_session(dir.file("home"), Fault::kNone, 0);
  EXPECT_FALSE(told.hit);
  // One by init, three of the first run, two rotations, two left, a recovery, three of the third.
  EXPECT_EQ(told.acknowledged, 12);
  return told.operations;
}

// Every operation with the fault; AASM_ALL_FAULTS=1 asks for each, else every `stride`-th from
// `first` on is tried.
void walk(Fault fault, const char* name, int first, int stride) {
  const int operations = count_operations();
  ASSERT_GT(operations, 30);
  const bool all = getenv("AASM_ALL_FAULTS") != nullptr;
  for (int at = all ? 1 : first; at <= operations; at += all ? 1 : stride) {
    const aasm::test::TempDir dir;
    const std::string where = std::string(name) + " at " + std::to_string(at) + " of " +
                              std::to_string(operations) + ": ";
    const Told told = run_session(dir.file("home"), fault, at);
    EXPECT_TRUE(told.hit) << where << "not reached, status " << told.status;
    expect_usable(dir.file("home"), told, where);
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(WriterFaultTest, AKillLosesNothing) {
  walk(Fault::kKill, "kill", 1, 7);
}
TEST(WriterFaultTest, APowerCutThatLosesEverythingUnsynced) {
  walk(Fault::kCutLosesAll, "cut, all lost", 1, 3);
}
TEST(WriterFaultTest, APowerCutThatKeepsEverySecondWrite) {
  walk(Fault::kCutKeepsOdd, "cut, odd kept", 2, 7);
}
TEST(WriterFaultTest, APowerCutThatTearsTheLastWrite) {
  walk(Fault::kCutTears, "cut, torn", 3, 7);
}
// Case L2.
TEST(WriterFaultTest, AFullDisk) {
  walk(Fault::kFull, "full", 2, 7);
}
TEST(WriterFaultTest, AFailingDisk) {
  walk(Fault::kIoError, "error", 3, 7);
}
TEST(WriterFaultTest, ASingleFailure) {
  walk(Fault::kIoErrorOnce, "one error", 2, 7);
}

}  // namespace
}  // namespace aasm::verifier::test
