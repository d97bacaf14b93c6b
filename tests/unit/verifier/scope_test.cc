#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/claims/report.h"
#include "aasm/crypto/hash.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"
#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/temp_dir.h"
#include "writer_home.h"

namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;

VerifyRequest for_run(const schema::RunId& run) {
  VerifyRequest request;
  request.run = run.text();
  return request;
}

Forge three_runs() {
  Forge forge;
  forge.add_sample_run(1);
  forge.add_short_run(2);
  forge.add_opened(3);
  forge.add_recovered(3, "run.opened", false);
  return forge;
}

TEST(ScopeTest, OneRunHasItsWholeReport) {
  const VerifyReport report = verify_forged(three_runs(), for_run(run_id(1)));
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_EQ(number_at(report, "runs/in_scope"), 1);
  EXPECT_EQ(number_at(report, "coverage/runs"), 3);
  EXPECT_NE(report.text.find("--- execution isolation ---"), std::string::npos);
}

TEST(ScopeTest, AUniquePrefixNamesARun) {
  VerifyRequest request;
  request.run = run_id(2).text().substr(0, 13);
  const VerifyReport report = verify_forged(three_runs(), request);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  request.run = "01";
  EXPECT_EQ(codes(verify_forged(three_runs(), request)), Codes{"run_ambiguous"});
  request.run = "ffff";
  const VerifyReport none = verify_forged(three_runs(), request);
  EXPECT_EQ(codes(none), Codes{"run_not_found"});
  EXPECT_EQ(none.verdict, Verdict::kInconclusive);
}

TEST(ScopeTest, AFaultOutsideTheRunStillFails) {
  Forge forge = three_runs();
  forge.at(11).signer = &forge.keys().log;  // run.opened of run 2
  EXPECT_EQ(verify_forged(forge, for_run(run_id(1))).verdict, Verdict::kFailed);
}

TEST(InterruptedTest, ARecoveredRunIsListedAndCountsOnlyWhenAskedFor) {
  const VerifyReport whole = verify_forged(three_runs());
  EXPECT_EQ(whole.verdict, Verdict::kVerified) << whole.text;
  EXPECT_EQ(number_at(whole, "coverage/interrupted/count"), 1);
  EXPECT_NE(whole.text.find("interrupted"), std::string::npos);
  EXPECT_EQ(codes(verify_forged(three_runs(), for_run(run_id(3)))), Codes{"run_interrupted"});
  VerifyRequest close;
  close.require_close = true;
  const VerifyReport closed = verify_forged(three_runs(), close);
  EXPECT_EQ(closed.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(closed), Codes{"run_interrupted"});
}

TEST(UnfinishedTest, ARunWithoutAnEndIsInconclusive) {
  Forge forge;
  forge.add_sample_run(1);
  forge.records().resize(8);  // up to process.started
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"run_unfinished"});
  EXPECT_EQ(number_at(report, "coverage/unfinished/count"), 1);
}

TEST(UnfinishedTest, AllowOpenExcludesItFromTheWholeLedgerOnly) {
  Forge forge;
  forge.add_short_run(1);
  forge.add_opened(2);
  VerifyRequest request;
  request.allow_open = true;
  const VerifyReport whole = verify_forged(forge, request);
  EXPECT_EQ(whole.verdict, Verdict::kVerified) << whole.text;
  EXPECT_EQ(notices(whole), Codes{"run_unfinished_excluded"});
  EXPECT_NE(whole.text.find("no claims"), std::string::npos);
  request.run = run_id(2).text();
  EXPECT_EQ(codes(verify_forged(forge, request)), Codes{"run_unfinished"});
}

TEST(UnfinishedTest, ALiveRunOfTheWriterIsInconclusive) {
  WriterHome home;
  home.add_sample_run();
  home.add_unfinished_run();
  const VerifyReport report = verify(home.request());
  EXPECT_EQ(report.verdict, Verdict::kInconclusive) << report.text;
  EXPECT_EQ(codes(report), (Codes{"run_unfinished", "tail_unsigned"}));
  VerifyRequest request = home.request();
  request.allow_open = true;
  EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
}

// The report that a live run printed, as `verify --report` gets it.
std::string report_of(const VerifyReport& verified) {
  const auto& runs = *value_at(verified.json, "runs/newest")->as_array();
  return schema::json_write(*runs.front().find("report"));
}

TEST(GivenReportTest, OneThatAgreesIsVerified) {
  Forge forge;
  forge.add_sample_run(1);
  VerifyRequest request;
  request.given_report = report_of(verify_forged(forge));
  EXPECT_EQ(verify_forged(forge, request).verdict, Verdict::kVerified);
}

TEST(GivenReportTest, AnAlteredClaimIsFailed) {
  Forge forge;
  forge.add_sample_run(1);
  std::string given = report_of(verify_forged(forge));
  const std::string from = "\"claim\":\"unmeasured\"";
  given.replace(given.find(from), from.size(), "\"claim\":\"observed\"");
  VerifyRequest request;
  request.given_report = given;
  const VerifyReport report = verify_forged(forge, request);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(codes(report), Codes{"report_differs"});
}

TEST(GivenReportTest, OneOfAnotherRunOrOfNoFormIsNotAccepted) {
  Forge forge;
  forge.add_sample_run(1);
  forge.add_short_run(2);
  VerifyRequest request;
  request.given_report = report_of(verify_forged(forge));  // the first run listed: run 1
  request.run = run_id(2).text();
  EXPECT_EQ(codes(verify_forged(forge, request)), Codes{"report_differs"});
  request.run.clear();
  request.given_report = "{}";
  EXPECT_EQ(codes(verify_forged(forge, request)), Codes{"report_not_recomputed"});
  request.given_report = "not json";
  EXPECT_EQ(codes(verify_forged(forge, request)), Codes{"report_unreadable"});
}

TEST(BlobTest, TheWritersBlobsAreCheckedAgainstTheirRecords) {
  WriterHome home;
  home.add_sample_run();
  const std::string path = home.ledger();
  EXPECT_EQ(number_at(verify(home.request()), "coverage/blobs"), 1);

  doctor(path, "UPDATE blobs SET data=x'00'");
  EXPECT_EQ(codes(verify(home.request())), Codes{"blob_digest"});

  doctor(path, "UPDATE blobs SET salt=NULL");
  EXPECT_EQ(codes(verify(home.request())), Codes{"blob_malformed"});

  doctor(path, "UPDATE blobs SET data=NULL");
  const VerifyReport withheld = verify(home.request());
  EXPECT_EQ(withheld.verdict, Verdict::kVerified);
  EXPECT_EQ(notices(withheld), Codes{"blob_withheld"});
  EXPECT_EQ(number_at(withheld, "coverage/blobs_withheld"), 1);

  doctor(path, "DELETE FROM blobs");
  EXPECT_EQ(number_at(verify(home.request()), "coverage/blobs_withheld"), 1);
}

// The record commits to the document twice: by blob and by the digest of its bytes.
// Case L51.
TEST(BlobTest, AnotherDocumentThanTheRecordNamesIsFailed) {
  Forge forge;
  forge.add_sample_run(1);
  const schema::Bytes salt(32, 7);
  const std::string data = "policy";
  schema::PolicyResolved policy =
      schema::read_fields<schema::PolicyResolved>(forge.at(2).body).value();
  policy.blob = crypto::Sha256Hasher().update(salt).update(schema::as_bytes(data)).finish();
  for (const bool right : {true, false}) {
    policy.document = crypto::sha256(schema::as_bytes(right ? data : "other"));
    forge.at(2).body = write_fields(policy);
    const aasm::test::TempDir dir;
    const std::string path = dir.file("ledger.db");
    forge.write(path);
    doctor(path, "INSERT INTO blobs VALUES(x'" + policy.blob->hex() + "',x'" +
                     schema::to_hex(salt) + "',CAST('" + data + "' AS BLOB))");
    const VerifyReport report = verify(request_for(path, trust_in(forge.keys())));
    EXPECT_EQ(codes(report), right ? Codes{} : Codes{"policy_document_differs"});
  }
}

TEST(BlobTest, DocumentsThatAreExtendedAreNamedAndComparedToo) {
  Forge forge;
  forge.add_sample_run(1);
  const schema::Bytes salt(32, 7);
  schema::PolicyResolved policy =
      schema::read_fields<schema::PolicyResolved>(forge.at(2).body).value();
  policy.state = schema::PolicyState::kEnforced;
  policy.document = schema::Sha256{};
  policy.scope = schema::PolicyScope::kAgent;
  policy.extends.emplace().push_back(
      {schema::PolicyScope::kOrg, schema::PathBytes("/o.yaml"), schema::Sha256{}, std::nullopt});
  schema::PolicySource& org = policy.extends->back();
  org.blob = crypto::Sha256Hasher().update(salt).update(schema::as_bytes("org")).finish();
  for (const bool right : {true, false}) {
    org.document = crypto::sha256(schema::as_bytes(right ? "org" : "other"));
    forge.at(2).body = write_fields(policy);
    const aasm::test::TempDir dir;
    const std::string path = dir.file("ledger.db");
    forge.write(path);
    doctor(path, "INSERT INTO blobs VALUES(x'" + org.blob->hex() + "',x'" + schema::to_hex(salt) +
                     "',CAST('org' AS BLOB))");
    EXPECT_EQ(codes(verify(request_for(path, trust_in(forge.keys())))),
              right ? Codes{} : Codes{"policy_document_differs"});
  }
}

TEST(BlobTest, ADocumentDigestOfZerosIsComparedToo) {
  Forge forge;
  forge.add_sample_run(1);
  const schema::Bytes salt(32, 7);
  schema::PolicyResolved policy =
      schema::read_fields<schema::PolicyResolved>(forge.at(2).body).value();
  policy.blob = crypto::Sha256Hasher().update(salt).update(schema::as_bytes("policy")).finish();
  policy.document = schema::Sha256{};
  forge.at(2).body = write_fields(policy);
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  doctor(dir.file("ledger.db"), "INSERT INTO blobs VALUES(x'" + policy.blob->hex() + "',x'" +
                                    schema::to_hex(salt) + "',CAST('policy' AS BLOB))");
  EXPECT_EQ(codes(verify(request_for(dir.file("ledger.db"), trust_in(forge.keys())))),
            Codes{"policy_document_differs"});
}

// A holder of the run key signs a plan, a policy or a launch that is not the one that was bound.
TEST(PlanDigestTest, AChangedRecordThatThePlanBindsIsFailed) {
  using claims::test::body_of;
  const std::vector<std::function<void(claims::test::Records&)>> changes = {
      [](auto& run) { body_of<schema::PlanResolved>(run).digest.bytes[0] ^= 1U; },
      [](auto& run) { body_of<schema::PlanResolved>(run).steps.emplace_back("another step"); },
      [](auto& run) {
        body_of<schema::PlanResolved>(run).outcomes[0].timing = schema::Timing::kPost;
      },
      [](auto& run) { body_of<schema::PolicyResolved>(run).requirements[0].rules.pop_back(); },
      [](auto& run) { body_of<schema::PolicyResolved>(run).on_denial = "kill"; },
      [](auto& run) { body_of<schema::RunOpened>(run).identity.agent_id = "somebody else"; },
      [](auto& run) { body_of<schema::RunOpened>(run).program = schema::PathBytes("perl"); },
      [](auto& run) { body_of<schema::RunOpened>(run).working_dir = schema::PathBytes("/"); },
      [](auto& run) { body_of<schema::RunOpened>(run).arg_count = 3; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    claims::test::Records run = claims::test::sample_run();
    bind_plan(run);
    changes[i](run);
    Forge forge;
    forge.add_run(1, run);
    EXPECT_EQ(codes(verify_forged(forge)), Codes{"plan_digest_differs"}) << i;
  }
}

// Cases L7 and L28.
TEST(ClockTest, AWallClockThatWasSetIsANoticeAndChangesNoOrder) {
  Forge forge;
  forge.add_short_run(1);
  forge.at(2).change_envelope = [](ledger_format::Envelope& envelope) {
    envelope.wall_ns -= 3600LL * 1000000000;
  };
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kVerified);
  EXPECT_EQ(notices(report), Codes{"clock_step"});
  EXPECT_EQ(number_at(report, "coverage/clock_steps"), 1);
}

TEST(MemoryTest, AWholeLedgerListsOnlyItsNewestRuns) {
  Forge forge;
  for (int run = 0; run < 130; ++run) {
    forge.add_short_run(run);
  }
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kVerified);
  EXPECT_EQ(number_at(report, "runs/in_scope"), 130);
  EXPECT_EQ(number_at(report, "runs/listed"), 100);
  EXPECT_NE(report.text.find("the newest 100 of 130"), std::string::npos);
}

}  // namespace
}  // namespace aasm::verifier::test
