#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/store.h"
#include "aasm/schema/fields.h"

#include "append.h"
#include "boot_id.h"
#include "run_lock.h"
#include "support/ledger_check.h"
#include "support/ledger_home.h"

// docs/spec/ledger-format.md rule 4.6: a run whose supervisor died is ended by the next writer, and
// no other run is.
namespace aasm::ledger {
namespace {

using Kinds = std::vector<std::string>;

class RecoveryTest : public testing::Test {
 protected:
  std::unique_ptr<LedgerSink> sink() const {
    return LedgerSink::create(home_.open(), home_.paths()).value();
  }
  // A run with what `bodies` say, durable, whose sink then goes away without closing it.
  schema::RunId abandon(const std::vector<schema::RecordBody>& bodies = {}) const {
    const auto sink = this->sink();
    const schema::RunId run = test::new_run();
    sink->open_run(run, test::opened_body()).value();
    for (const schema::RecordBody& body : bodies) {
      sink->submit(body);
    }
    sink->flush().value();
    return run;
  }
  Kinds kinds() const { return test::LedgerCheck::kinds(home_.paths()); }
  std::string check() const { return test::LedgerCheck::run(home_.paths()); }
  std::size_t num_locks() const {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(home_.paths().runs)) {
      count += entry.path().extension() == ".lock" ? 1U : 0U;
    }
    return count;
  }
  schema::RunRecovered recovered(std::uint64_t seq) const {
    LedgerReader reader = LedgerReader::open(home_.paths().ledger).value();
    const StoredRecord record = reader.record(seq).value();
    EXPECT_EQ(record.statement.envelope.kind, "run.recovered");
    return schema::read_fields<schema::RunRecovered>(record.statement.body).value();
  }
  // run.opened as a supervisor of another boot left it, without a lock file.
  void open_in_boot(const test::TestRun& run, const std::string& boot) const {
    const KeySet keys = home_.keys();
    const auto log = ledger_format::VerifierKey::make(
                         keys.origin, ledger_format::NoteKeyType::kEd25519, keys.log.public_key())
                         .value();
    LedgerDb db = LedgerDb::open(home_.paths().ledger).value();
    sqlite::Transaction transaction = db.begin().value();
    const StoreOptions options;
    Appender appender(db, keys, boot, options, load_head(db, log).value(), RunStates());
    schema::RunOpened body = test::opened_body();
    body.run_key = run.key().public_key();
    appender.add(make_pending(run.id(), body, keys.host).value()).value();
    transaction.commit().value();
  }
  // As after a boot: nothing says how far an earlier look went.
  void forget_sweeps() const {
    for (const auto& entry : std::filesystem::directory_iterator(home_.paths().runs)) {
      if (entry.path().filename().string().starts_with("swept-")) {
        std::filesystem::remove(entry.path());
      }
    }
  }

  test::LedgerHome home_;
};

TEST_F(RecoveryTest, TheNextWriterEndsTheRunBeforeItsOwnRecords) {
  abandon({test::batch_body()});
  EXPECT_EQ(num_locks(), 1U);
  const auto next = sink();
  next->open_run(test::new_run(), test::opened_body()).value();
  next->close_run(test::closed_body()).value();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened", "observation.batch", "run.recovered",
                            "run.opened", "run.closed"}));
  EXPECT_EQ(recovered(3).last_kind, "observation.batch");
  EXPECT_FALSE(recovered(3).program_may_have_run);
  EXPECT_EQ(check(), "");
  EXPECT_EQ(num_locks(), 0U);
}

TEST_F(RecoveryTest, ARunIsRecoveredOnce) {
  abandon();
  home_.open();
  home_.open();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened", "run.recovered"}));
}

TEST_F(RecoveryTest, SeveralRunsAreRecoveredInTheOrderOfTheirOpening) {
  auto first = sink();
  auto second = sink();
  for (const auto* sink : {&first, &second}) {
    (*sink)->open_run(test::new_run(), test::opened_body()).value();
    (*sink)->submit(test::batch_body());
    (*sink)->flush().value();
  }
  EXPECT_EQ(kinds().size(), 5U);
  second.reset();
  first.reset();
  home_.open();
  EXPECT_EQ(kinds().size(), 7U);
  LedgerReader reader = LedgerReader::open(home_.paths().ledger).value();
  EXPECT_EQ(reader.record(5).value().statement.envelope.run,
            reader.record(1).value().statement.envelope.run);
  EXPECT_EQ(check(), "");
}

TEST_F(RecoveryTest, LiveRunsAreLeftAlone) {
  const auto first = sink();
  first->open_run(test::new_run(), test::opened_body()).value();
  first->flush().value();
  const auto second = sink();
  second->open_run(test::new_run(), test::opened_body()).value();
  second->flush().value();
  forget_sweeps();
  home_.open();
  EXPECT_TRUE(first->close_run(test::closed_body()).has_value());
  EXPECT_TRUE(second->close_run(test::closed_body()).has_value());
  EXPECT_EQ(kinds(),
            (Kinds{"ledger.created", "run.opened", "run.opened", "run.closed", "run.closed"}));
}

TEST_F(RecoveryTest, ARunOfAKilledProcessIsRecoveredAndItsRecordsStay) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    abandon();
    const auto sink = this->sink();
    sink->open_run(test::new_run(), test::opened_body()).value();
    sink->submit(test::batch_body());
    static_cast<void>(sink->flush());
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  home_.open();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened", "run.recovered", "run.opened",
                            "observation.batch", "run.recovered"}));
  EXPECT_EQ(check(), "");
}

TEST_F(RecoveryTest, AStoppedSupervisorIsNoDeadOne) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto sink = this->sink();
    sink->open_run(test::new_run(), test::opened_body()).value();
    static_cast<void>(sink->flush());
    static_cast<void>(!write(ready[1], "r", 1));
    raise(SIGSTOP);
    _exit(sink->close_run(test::closed_body()).has_value() ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  home_.open();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened"}));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(RecoveryTest, ALockWithoutRecordsIsTidiedAwayAndRecordsNothing) {
  {
    const auto sink = this->sink();
    sink->open_run(test::new_run(), test::opened_body()).value();  // never flushed
  }
  EXPECT_EQ(num_locks(), 1U);
  home_.open();
  EXPECT_EQ(kinds(), Kinds{"ledger.created"});
  EXPECT_EQ(num_locks(), 0U);
}

TEST_F(RecoveryTest, WhatPermitsTheStartDecidesWhetherTheProgramMayHaveRun) {
  schema::PlanResolved plan;
  plan.requested = schema::IsolationClass::kNone;
  plan.posture = schema::LaunchPosture::kUnconfined;
  const std::vector<schema::RecordBody> permitting = {schema::BoundaryProved{},
                                                      test::started_body(), plan};
  std::uint64_t seq = 0;
  for (const schema::RecordBody& body : permitting) {
    abandon({body, test::batch_body()});
    home_.open();
    seq += 4;
    EXPECT_TRUE(recovered(seq).program_may_have_run) << schema::kind_of(body);
    EXPECT_EQ(recovered(seq).last_kind, "observation.batch");
  }
  abandon({schema::ControlPrepared{}});
  home_.open();
  EXPECT_FALSE(recovered(seq + 3).program_may_have_run);
}

TEST_F(RecoveryTest, ARunOfAnEarlierBootNeedsNoLockFile) {
  const test::TestRun run;
  open_in_boot(run, "00000000-earlier");
  forget_sweeps();
  home_.open();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened", "run.recovered"}));
  EXPECT_EQ(num_locks(), 0U);
}

TEST_F(RecoveryTest, ARunOfAnEarlierBootWhoseLockIsHeldIsLive) {
  const test::TestRun run;
  open_in_boot(run, "00000000-earlier");
  forget_sweeps();
  RunLock held = RunLock::take(home_.paths().runs, run.id(), {home_.keys().origin, 1}).value();
  home_.open();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened"}));
  held.finish();
}

TEST_F(RecoveryTest, ARunOfThisBootWithoutALockFileIsLetBe) {
  const test::TestRun run;
  open_in_boot(run, read_boot_id().value());
  forget_sweeps();
  home_.open();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened"}));
}

TEST_F(RecoveryTest, ALockFileThatAPowerCutEmptiedStillEndsItsRun) {
  const test::TestRun run;
  open_in_boot(run, "00000000-earlier");
  forget_sweeps();
  std::ofstream(home_.paths().runs + "/" + run.id().text() + ".lock").close();
  home_.open();
  EXPECT_EQ(kinds(), (Kinds{"ledger.created", "run.opened", "run.recovered"}));
  EXPECT_EQ(num_locks(), 0U);
}

TEST_F(RecoveryTest, TheLockOfAnotherLedgersRunIsLeftAlone) {
  {
    const RunLock other = RunLock::take(home_.paths().runs, test::new_run(),
                                        {"other.example/ledger/0123456789abcdef", 1})
                              .value();
  }
  EXPECT_EQ(num_locks(), 1U);
  home_.open();
  EXPECT_EQ(num_locks(), 1U);
}

TEST_F(RecoveryTest, AForeignFileInRunsIsLeftAlone) {
  const std::string path = home_.paths().runs + "/" + test::new_run().text() + ".lock";
  std::ofstream(path) << "something else\n";
  home_.open();
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(RecoveryTest, ARunIdIsUsedOnce) {
  const schema::RunId run = test::new_run();
  const RunLock first = RunLock::take(home_.paths().runs, run, {home_.keys().origin, 1}).value();
  const auto second = RunLock::take(home_.paths().runs, run, {home_.keys().origin, 1});
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), schema::ErrorCode::kConflict);
}

}  // namespace
}  // namespace aasm::ledger
