#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sample_run.h"

// The state of the decision channel, of the run and of single domains.
namespace aasm::claims::test {
namespace {

using schema::ChannelState;
using schema::Domain;

schema::ChannelTotals& totals(Records& run) {
  return body_of<schema::RunClosed>(run).channel;
}

struct Row {
  const char* why;
  std::function<void(Records&)> change;
  const char* expected;
};

std::vector<Row> rows() {
  return {
      {"the sample run", [](Records&) {}, "complete"},
      {"events were lost after the last batch", [](Records& run) { totals(run).dropped = 7; },
       "lossy(7)"},
      {"events were lost between batches",
       [](Records& run) {
         totals(run).dropped = 2;
         body_of<schema::DecisionBatch>(run).dropped = 2;
       },
       "lossy(2)"},
      {"the workload installed a filter",
       [](Records& run) {
         totals(run).nested_filter_event = 3;
         body_of<schema::DecisionBatch>(run).events.at(2).nested_filter = true;
       },
       "complete_until_nested_filter(3)"},
      {"run.closed hides a nested filter",
       [](Records& run) { body_of<schema::DecisionBatch>(run).events.at(1).nested_filter = true; },
       "unknown_loss"},
      {"run.closed hides a loss",
       [](Records& run) { body_of<schema::DecisionBatch>(run).dropped = 1; }, "unknown_loss"},
      {"never opened", [](Records& run) { totals(run).opened = false; }, "unknown_loss"},
      {"never closed", [](Records& run) { totals(run).closed = false; }, "unknown_loss"},
      {"one event more in run.closed", [](Records& run) { totals(run).events += 1; },
       "unknown_loss"},
      {"one action more in run.closed", [](Records& run) { totals(run).actions += 1; },
       "unknown_loss"},
      {"a gap in the numbers",
       [](Records& run) { body_of<schema::DecisionBatch>(run).events.at(2).number = 4; },
       "unknown_loss"},
      {"the end of the program is not recorded",
       [](Records& run) { remove_kind<schema::ProcessExited>(run); }, "unknown_loss"},
      {"run.closed has another signer",
       [](Records& run) { step_of<schema::RunClosed>(run).signer_ok = false; }, "unknown_loss"},
      {"ended for want of evidence",
       [](Records& run) {
         body_of<schema::RunClosed>(run).ending = schema::RunEnding::kEvidenceFailure;
       },
       "unknown_loss"},
      {"no closing record", [](Records& run) { remove_kind<schema::RunClosed>(run); },
       "unknown_loss"},
      {"no closing record, no events, yet a canary was reported",
       [](Records& run) {
         remove_kind<schema::RunClosed>(run);
         remove_kind<schema::DecisionBatch>(run);
       },
       "unknown_loss"},
      {"no channel",
       [](Records& run) {
         remove_kind<schema::DecisionBatch>(run);
         totals(run) = {};
       },
       "none"},
      {"no channel, yet events", [](Records& run) { totals(run) = {}; }, "unknown_loss"},
      {"the program never started",
       [](Records& run) {
         remove_kind<schema::ProcessStarted>(run);
         remove_kind<schema::DecisionBatch>(run);
       },
       "none"},
  };
}

// Case L53.
TEST(ChannelTest, TheStateFollowsTheAccounts) {
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.why);
    Records run = sample_run();
    row.change(run);
    const RunClaims claims = claims_of(run);
    EXPECT_EQ(claims.channel.text(), row.expected);
    // Only the untouched channel of a domain lets anything be said of what did not happen.
    EXPECT_EQ(claims.of(Domain::kSyscall).may_state_absence(),
              std::string(row.expected) == "complete");
  }
}

TEST(ChannelTest, ADomainWithoutAProbedChannelHasNone) {
  const RunClaims claims = claims_of(sample_run());
  EXPECT_EQ(claims.of(Domain::kSyscall).channel.state, ChannelState::kComplete);
  EXPECT_EQ(claims.of(Domain::kFilesystemRead).channel.state, ChannelState::kNone);
  EXPECT_EQ(claims.of(Domain::kCredential).channel.state, ChannelState::kNone);
  EXPECT_EQ(claims.of(Domain::kIpc).channel.state, ChannelState::kNone) << "not stated";
}

TEST(ChannelTest, AFilesystemChannelNeedsTheWishForItsLevel) {
  using schema::EvidenceWish;
  struct WishRow {
    EvidenceWish wish;
    ChannelState read;
    ChannelState write;
  };
  const std::vector<WishRow> wishes = {
      {EvidenceWish::kSetup, ChannelState::kNone, ChannelState::kNone},
      {EvidenceWish::kWriteDecisions, ChannelState::kNone, ChannelState::kComplete},
      {EvidenceWish::kDecisions, ChannelState::kComplete, ChannelState::kComplete},
  };
  for (const WishRow& row : wishes) {
    SCOPED_TRACE(std::string(schema::token(row.wish)));
    Records run = sample_run();
    for (schema::DomainCapability& one : body_of<schema::CapabilityProbed>(run).domains) {
      one.channel.mechanism = "broker";
    }
    for (schema::Requirement& one : body_of<schema::PolicyResolved>(run).requirements) {
      one.evidence = row.wish;
    }
    const RunClaims claims = claims_of(run);
    EXPECT_EQ(claims.of(Domain::kFilesystemRead).channel.state, row.read);
    EXPECT_EQ(claims.of(Domain::kFilesystemWrite).channel.state, row.write);
  }
}

TEST(ChannelTest, ADomainTheProbeDoesNotReportHasNone) {
  Records run = sample_run();
  body_of<schema::CapabilityProbed>(run).domains.clear();
  set_events(run, {});
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).channel.state, ChannelState::kNone);
}

TEST(ChannelTest, EventsThatNothingPromisedAreOfUnknownLoss) {
  Records run = sample_run();
  schema::Event event = allowed_prctl();
  event.domain = Domain::kFilesystemRead;
  event.rule = "filesystem.read.allow[0]";
  event.outcome = schema::DecisionOutcome::kDenied;
  set_events(run, {event});
  EXPECT_EQ(claims_of(run).of(Domain::kFilesystemRead).channel.state, ChannelState::kUnknownLoss);
}

TEST(ChannelTest, ACanaryTheChannelMissedMakesItsDomainUnknownLoss) {
  Records run = sample_run();
  body_of<schema::BoundaryProved>(run).canaries.at(1).channel = schema::ChannelReport::kNotReported;
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).channel.state, ChannelState::kUnknownLoss);
}

TEST(ChannelTest, WithoutTheProbeItIsNotKnownWhatTheChannelSees) {
  Records run = sample_run();
  remove_kind<schema::CapabilityProbed>(run);
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).channel.state, ChannelState::kUnknownLoss);
}

TEST(ChannelTest, EventsOfAllBatchesAreCountedTogether) {
  Records run = sample_run();
  set_events(run, {});
  remove_kind<schema::DecisionBatch>(run);
  std::int64_t number = 1;
  for (int batch = 0; batch < 40; ++batch) {
    schema::DecisionBatch body;
    body.first = number;
    for (int i = 0; i < 10; ++i) {
      body.events.push_back(denied_ptrace());
      body.events.back().number = number++;
    }
    Step step;
    step.body = body;
    run.insert(run.end() - 2, step);
  }
  renumber(run);
  totals(run).events = 400;
  totals(run).actions = 400;
  const RunClaims claims = claims_of(run);
  EXPECT_EQ(claims.channel.state, ChannelState::kComplete);
  EXPECT_EQ(claims.of(Domain::kSyscall).denied_actions, 400);
  EXPECT_TRUE(claims.contradictions.empty());
}

TEST(ChannelTest, CountsStopAtTheLargestIntegerOfARecord) {
  Records run = sample_run();
  schema::Event event = denied_ptrace();
  event.count = schema::kJsonMaxInteger;
  set_events(run, {event, event});
  EXPECT_EQ(claims_of(run).of(Domain::kSyscall).denied_actions, schema::kJsonMaxInteger);
}

}  // namespace
}  // namespace aasm::claims::test
