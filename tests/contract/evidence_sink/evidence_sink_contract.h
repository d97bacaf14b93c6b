#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/schema/evidence_sink.h"

#include "support/ledger_bodies.h"

// What every EvidenceSink promises (schema/include/aasm/schema/evidence_sink.h). Instantiate
// EvidenceSinkContract with a SinkCase for each implementation.
namespace aasm::test {

// An implementation with the means to look behind it.
class SinkHarness {
 public:
  virtual ~SinkHarness() = default;
  virtual schema::EvidenceSink& sink() = 0;
  virtual schema::RunId run() const = 0;
  // Kinds of this run's durable records, in order.
  virtual std::vector<std::string> durable_kinds() = 0;
  // The bytes behind a durable digest.
  virtual std::optional<std::string> blob(const schema::Sha256& digest) = 0;
  // Makes the next commit fail.
  virtual void break_storage() = 0;
};

struct SinkCase {
  const char* name;
  std::function<std::unique_ptr<SinkHarness>()> make;
};

class EvidenceSinkContract : public testing::TestWithParam<SinkCase> {
 protected:
  using Kinds = std::vector<std::string>;
  static constexpr std::chrono::milliseconds kStreamingLimit{250};

  void open() { ASSERT_TRUE(sink_.open_run(harness_->run(), opened_body()).has_value()); }
  bool is_signalled() const {
    pollfd entry{sink_.failure_fd(), POLLIN, 0};
    return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
  }
  // Waits until `count` records are durable; how long that took.
  std::chrono::milliseconds wait_for(std::size_t count) {
    const auto begin = std::chrono::steady_clock::now();
    const auto waited = [&] {
      return std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::steady_clock::now() - begin);
    };
    while (harness_->durable_kinds().size() < count && waited() < std::chrono::seconds(10)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return waited();
  }

  std::unique_ptr<SinkHarness> harness_ = GetParam().make();
  schema::EvidenceSink& sink_ = harness_->sink();
};

TEST_P(EvidenceSinkContract, NothingIsDurableBeforeAFlush) {
  open();
  sink_.submit(batch_body());
  std::this_thread::sleep_for(kStreamingLimit + std::chrono::milliseconds(50));
  EXPECT_EQ(harness_->durable_kinds(), Kinds{});
}

TEST_P(EvidenceSinkContract, AFlushMakesEverythingDurableInOrder) {
  open();
  sink_.submit(started_body());
  sink_.submit(batch_body());
  sink_.submit(exited_body());
  ASSERT_TRUE(sink_.flush().has_value());
  EXPECT_EQ(harness_->durable_kinds(),
            (Kinds{"run.opened", "process.started", "observation.batch", "process.exited"}));
}

TEST_P(EvidenceSinkContract, AFlushOfNothingSucceeds) {
  EXPECT_TRUE(sink_.flush().has_value());
  open();
  ASSERT_TRUE(sink_.flush().has_value());
  EXPECT_TRUE(sink_.flush().has_value());
  EXPECT_EQ(harness_->durable_kinds(), Kinds{"run.opened"});
}

TEST_P(EvidenceSinkContract, OpenRunFillsWhatTheSinkKnows) {
  schema::RunOpened body = opened_body("/bin/false");
  body.key_storage = "overwritten";
  const auto staged = sink_.open_run(harness_->run(), body);
  ASSERT_TRUE(staged.has_value());
  EXPECT_NE(staged->run_key, schema::PublicKey{});
  EXPECT_EQ(staged->key_storage, "memory_only");
  ASSERT_TRUE(staged->checkpoint.has_value());
  EXPECT_FALSE(staged->checkpoint->empty());
  EXPECT_EQ(staged->program.bytes(), "/bin/false");
}

TEST_P(EvidenceSinkContract, ASinkServesOneRun) {
  open();
  EXPECT_FALSE(sink_.open_run(harness_->run(), opened_body()).has_value());
  ASSERT_TRUE(sink_.flush().has_value());
  EXPECT_EQ(harness_->durable_kinds(), Kinds{"run.opened"});
}

TEST_P(EvidenceSinkContract, RecordsOfManyThreadsAreAllThere) {
  open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 25; ++i) {
        sink_.submit(batch_body());
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  ASSERT_TRUE(sink_.flush().has_value());
  const Kinds kinds = harness_->durable_kinds();
  EXPECT_EQ(kinds.size(), 101U);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "observation.batch"), 100);
}

// A machine that starves this process makes any commit late, so one record of a few must be in time
// and all must arrive: a sink that waits longer than it may is late every time.
TEST_P(EvidenceSinkContract, StreamingCommitsInTimeWithoutAFlush) {
  open();
  ASSERT_TRUE(sink_.flush().has_value());
  sink_.start_streaming();
  auto best = std::chrono::milliseconds::max();
  for (std::size_t i = 0; i < 8; ++i) {
    sink_.submit(batch_body());
    best = std::min(best, wait_for(2 + i));
  }
  EXPECT_LT(best, kStreamingLimit);
  EXPECT_EQ(harness_->durable_kinds().size(), 9U);
}

TEST_P(EvidenceSinkContract, StreamingTakesWhatWasStagedBefore) {
  open();
  ASSERT_TRUE(sink_.flush().has_value());
  sink_.submit(batch_body());
  sink_.start_streaming();
  wait_for(2);
  EXPECT_EQ(harness_->durable_kinds().size(), 2U);
}

TEST_P(EvidenceSinkContract, CloseRunCommitsEverythingAndCounts) {
  open();
  sink_.submit(batch_body());
  const auto closed = sink_.close_run(closed_body());
  ASSERT_TRUE(closed.has_value());
  EXPECT_EQ(harness_->durable_kinds(), (Kinds{"run.opened", "observation.batch", "run.closed"}));
  EXPECT_EQ(closed->closed_seq, closed->opened_seq + 2);
  EXPECT_FALSE(closed->checkpoint.empty());
  EXPECT_FALSE(sink_.failure().has_value());
  EXPECT_FALSE(is_signalled());
}

TEST_P(EvidenceSinkContract, ARunIsClosedOnce) {
  open();
  ASSERT_TRUE(sink_.close_run(closed_body()).has_value());
  EXPECT_FALSE(sink_.close_run(closed_body()).has_value());
  EXPECT_EQ(harness_->durable_kinds(), (Kinds{"run.opened", "run.closed"}));
}

TEST_P(EvidenceSinkContract, ARecordAfterTheEndIsAFailureAndIsNotWritten) {
  open();
  ASSERT_TRUE(sink_.close_run(closed_body()).has_value());
  sink_.submit(batch_body());
  EXPECT_TRUE(sink_.failure().has_value());
  EXPECT_TRUE(is_signalled());
  EXPECT_EQ(harness_->durable_kinds(), (Kinds{"run.opened", "run.closed"}));
}

TEST_P(EvidenceSinkContract, ARecordBeforeTheBeginningIsAFailure) {
  sink_.submit(batch_body());
  EXPECT_TRUE(sink_.failure().has_value());
  EXPECT_FALSE(sink_.open_run(harness_->run(), opened_body()).has_value());
  EXPECT_FALSE(sink_.close_run(closed_body()).has_value());
}

TEST_P(EvidenceSinkContract, CloseRunNeedsAnOpenRun) {
  EXPECT_FALSE(sink_.close_run(closed_body()).has_value());
}

TEST_P(EvidenceSinkContract, KindsWithACallOfTheirOwnCannotBeSubmitted) {
  const std::vector<schema::RecordBody> bodies = {opened_body(), closed_body(),
                                                  schema::RunRecovered{}, schema::LedgerCreated{}};
  for (const schema::RecordBody& body : bodies) {
    const std::unique_ptr<SinkHarness> fresh = GetParam().make();
    ASSERT_TRUE(fresh->sink().open_run(fresh->run(), opened_body()).has_value());
    fresh->sink().submit(body);
    EXPECT_TRUE(fresh->sink().failure().has_value()) << schema::kind_of(body);
  }
}

TEST_P(EvidenceSinkContract, AFailedCommitIsSticky) {
  open();
  ASSERT_TRUE(sink_.flush().has_value());
  EXPECT_FALSE(is_signalled());
  harness_->break_storage();
  sink_.submit(batch_body());
  const auto failed = sink_.flush();
  ASSERT_FALSE(failed.has_value());
  EXPECT_TRUE(is_signalled());
  ASSERT_TRUE(sink_.failure().has_value());
  EXPECT_EQ(sink_.failure()->message(), failed.error().message());

  sink_.submit(batch_body());
  EXPECT_FALSE(sink_.flush().has_value());
  EXPECT_FALSE(sink_.stage_blob("x").has_value());
  const auto closed = sink_.close_run(closed_body());
  ASSERT_FALSE(closed.has_value());
  EXPECT_EQ(closed.error().message(), failed.error().message());
  EXPECT_EQ(harness_->durable_kinds(), Kinds{"run.opened"});
}

TEST_P(EvidenceSinkContract, AFailureWhileStreamingIsSignalled) {
  open();
  ASSERT_TRUE(sink_.flush().has_value());
  harness_->break_storage();
  sink_.start_streaming();
  sink_.submit(batch_body());
  pollfd entry{sink_.failure_fd(), POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 10000), 1);
  EXPECT_TRUE(sink_.failure().has_value());
}

TEST_P(EvidenceSinkContract, ABlobIsKeptWithTheRecordThatNamesIt) {
  open();
  const auto digest = sink_.stage_blob("policy text");
  ASSERT_TRUE(digest.has_value());
  schema::PolicyResolved body;
  body.source_kind = "none";
  body.blob = *digest;
  sink_.submit(body);
  ASSERT_TRUE(sink_.flush().has_value());
  EXPECT_EQ(harness_->blob(*digest), "policy text");
}

TEST_P(EvidenceSinkContract, EqualBlobsDoNotLookEqual) {
  open();
  const auto one = sink_.stage_blob("same");
  const auto two = sink_.stage_blob("same");
  ASSERT_TRUE(one.has_value() && two.has_value());
  EXPECT_NE(*one, *two);
}

}  // namespace aasm::test
