#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger/ledger_sink.h"
#include "aasm/ledger/reader.h"
#include "aasm/schema/json_write.h"

#include "claims/sample_run.h"
#include "judge.h"
#include "writer_home.h"

namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;

TEST(GoodLedgerTest, AForgedLedgerThatBreaksNothingIsVerified) {
  Forge forge;
  forge.add_sample_run(1);
  forge.add_short_run(2);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_EQ(codes(report), Codes{});
  EXPECT_EQ(number_at(report, "coverage/records"), 13);
  EXPECT_EQ(number_at(report, "coverage/signed_up_to"), 13);
  EXPECT_EQ(number_at(report, "coverage/closed"), 2);
}

TEST(GoodLedgerTest, ALedgerOfTheWriterIsVerified) {
  WriterHome home;
  home.add_sample_run();
  home.add_sample_run();
  home.add_short_run();
  const VerifyReport report = verify(home.request());
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_EQ(number_at(report, "coverage/runs"), 3);
  EXPECT_EQ(number_at(report, "coverage/blobs"), 2);
  EXPECT_EQ(number_at(report, "runs/by_state/finished"), 2);
  EXPECT_EQ(number_at(report, "runs/by_state/refused"), 1);
}

TEST(GoodLedgerTest, TheClaimsOfARunAreRecomputed) {
  Forge forge;
  forge.add_sample_run(1);
  const VerifyReport report = verify_forged(forge);
  const auto& runs = *value_at(report.json, "runs/newest")->as_array();
  ASSERT_EQ(runs.size(), 1U);
  const auto& domains = *value_at(runs[0], "report/domains")->as_array();
  ASSERT_EQ(domains.size(), 9U);
  EXPECT_EQ(*domains[4].find("claim")->as_string(), "denied_before_execution");
  EXPECT_EQ(*domains[4].find("denied_actions")->as_int(), 1);
  EXPECT_NE(report.text.find("denied_before_execution (1 action"), std::string::npos)
      << report.text;
}

TEST(GoodLedgerTest, TheReportSaysWhatIsVerified) {
  Forge forge;
  forge.add_short_run(1);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(*value_at(report.json, "schema")->as_string(), "aasm.verify-report/1");
  EXPECT_EQ(*value_at(report.json, "verdict")->as_string(), "VERIFIED");
  EXPECT_EQ(number_at(report, "exit_status"), 0);
  EXPECT_EQ(*value_at(report.json, "trust/pinned")->as_bool(), true);
  EXPECT_EQ(value_at(report.json, "trust/banner"), nullptr);
  EXPECT_EQ(*value_at(report.json, "trust/origin")->as_string(), kOrigin);
  // What was cut off the end cannot be seen from the file alone, and the report says so.
  EXPECT_NE(report.text.find("an older, shorter copy"), std::string::npos);
}

TEST(GoodLedgerTest, TheNoteToKeepIsTheNewestCheckpoint) {
  Forge forge;
  forge.add_short_run(1);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.new_state, forge.note(3));
}

TEST(GoodLedgerTest, AnyNumberOfThreadsGivesTheSameReport) {
  Forge forge;
  for (int run = 1; run <= 40; ++run) {
    forge.add_sample_run(run);
  }
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  request.threads = 1;
  const VerifyReport one = verify(request);
  request.threads = 7;
  const VerifyReport seven = verify(request);
  EXPECT_EQ(one.verdict, Verdict::kVerified) << one.text;
  EXPECT_EQ(one.text, seven.text);
  EXPECT_EQ(schema::json_write(one.json), schema::json_write(seven.json));
}

TEST(GoodLedgerTest, ProgressReachesTheTotal) {
  Forge forge;
  forge.add_short_run(1);
  VerifyRequest request;
  std::uint64_t last = 0;
  std::uint64_t all = 0;
  request.progress = [&](std::uint64_t done, std::uint64_t total) {
    last = done;
    all = total;
  };
  verify_forged(forge, request);
  EXPECT_EQ(last, 3U);
  EXPECT_EQ(all, 3U);
}

}  // namespace
}  // namespace aasm::verifier::test
