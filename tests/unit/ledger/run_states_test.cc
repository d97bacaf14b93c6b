#include "run_states.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/envelope.h"
#include "aasm/ledger_format/keys.h"

#include "support/ledger_bodies.h"
#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;

class RunStatesTest : public testing::Test {
 protected:
  RunStatesTest() : host_(crypto::SigningKey::generate().value()) {}

  PendingRecord opened(const test::TestRun& run) const {
    schema::RunOpened body = test::opened_body();
    body.run_key = run.key().public_key();
    return make_pending(run.id(), body, host_).value();
  }
  std::optional<ErrorCode> accept(const PendingRecord& record) {
    const auto result = states_.accept(record, host_.public_key());
    return result.has_value() ? std::nullopt : std::optional(result.error().code());
  }
  // The payload another writer would have stored.
  std::string payload(const PendingRecord& record) const {
    ledger_format::Envelope envelope;
    envelope.origin = "test.example/ledger/0123456789abcdef";
    envelope.seq = 9;
    envelope.run = record.run;
    envelope.kind = record.kind;
    envelope.boot = "b0";
    envelope.key = ledger_format::key_id(record.signer->public_key());
    return ledger_format::build_payload(envelope, record.body).value();
  }

  crypto::SigningKey host_;
  test::TestRun run_;
  RunStates states_;
};

TEST_F(RunStatesTest, ARunGoesFromOpenedToClosed) {
  EXPECT_EQ(accept(opened(run_)), std::nullopt);
  EXPECT_EQ(accept(run_.record(test::started_body())), std::nullopt);
  EXPECT_EQ(accept(run_.record(test::batch_body())), std::nullopt);
  EXPECT_EQ(accept(run_.closed()), std::nullopt);
}

TEST_F(RunStatesTest, NothingComesBeforeRunOpened) {
  EXPECT_EQ(accept(run_.record(test::batch_body())), ErrorCode::kInvalidArgument);
}

TEST_F(RunStatesTest, ARunIsOpenedOnce) {
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  EXPECT_EQ(accept(opened(run_)), ErrorCode::kInvalidArgument);
}

TEST_F(RunStatesTest, NothingComesAfterRunClosed) {
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  ASSERT_EQ(accept(run_.closed()), std::nullopt);
  EXPECT_EQ(accept(run_.record(test::batch_body())), ErrorCode::kConflict);
  EXPECT_EQ(accept(run_.closed()), ErrorCode::kConflict);
}

TEST_F(RunStatesTest, TheProgramStartsOnce) {
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  ASSERT_EQ(accept(run_.record(test::started_body())), std::nullopt);
  EXPECT_EQ(accept(run_.record(test::started_body())), ErrorCode::kInvalidArgument);
}

TEST_F(RunStatesTest, TheSignerFitsTheKind) {
  PendingRecord by_run = opened(run_);
  by_run.signer = &run_.key();
  EXPECT_EQ(accept(by_run), ErrorCode::kInvalidArgument);
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  PendingRecord by_host = run_.record(test::batch_body());
  by_host.signer = &host_;
  EXPECT_EQ(accept(by_host), ErrorCode::kInvalidArgument);
  const test::TestRun other;
  PendingRecord by_other = run_.record(test::batch_body());
  by_other.signer = &other.key();
  EXPECT_EQ(accept(by_other), ErrorCode::kInvalidArgument);
  PendingRecord unsigned_record = run_.record(test::batch_body());
  unsigned_record.signer = nullptr;
  EXPECT_EQ(accept(unsigned_record), ErrorCode::kInvalidArgument);
}

TEST_F(RunStatesTest, AnUnknownKindIsRefused) {
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  PendingRecord record = run_.record(test::batch_body());
  record.kind = "run.invented";
  EXPECT_EQ(accept(record), ErrorCode::kInvalidArgument);
}

TEST_F(RunStatesTest, AnotherWritersEndOfTheRunIsSeen) {
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  states_.observe(
      payload(make_pending(run_.id(), schema::RunRecovered{"run.opened", false}, host_).value()));
  EXPECT_EQ(accept(run_.record(test::batch_body())), ErrorCode::kConflict);
}

TEST_F(RunStatesTest, TheEndOfAnotherRunIsNotOurs) {
  const test::TestRun other;
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  states_.observe(payload(other.closed()));
  EXPECT_EQ(accept(run_.record(test::batch_body())), std::nullopt);
}

TEST_F(RunStatesTest, WordsInABodyEndNoRun) {
  ASSERT_EQ(accept(opened(run_)), std::nullopt);
  schema::ProcessStarted body = test::started_body();
  body.exe = schema::PathBytes("\"kind\":\"run.closed\" " + run_.id().text());
  states_.observe(payload(run_.record(body)));
  states_.observe("\"kind\":\"run.closed\"");
  EXPECT_EQ(accept(run_.record(test::batch_body())), std::nullopt);
}

}  // namespace
}  // namespace aasm::ledger
