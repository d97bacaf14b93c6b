#include <array>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/sqlite/connection.h"

#include "claims/sample_run.h"
#include "forged_cases.h"
#include "judge.h"
#include "support/temp_dir.h"

// What a record may say and refer to: forged ledgers that break it.
namespace aasm::verifier::test {
namespace {

TEST(PayloadTest, AnEnvelopeThatDisagreesWithItsPlaceIsFailed) {
  expect_all({
      {"seq",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).change_envelope = [](ledger_format::Envelope& e) { e.seq = 3; };
       },
       Verdict::kFailed,
       {"sequence_mismatch"}},
      {"prev",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).change_envelope = [](ledger_format::Envelope& e) { e.prev.bytes[0] ^= 1U; };
       },
       Verdict::kFailed,
       {"prev_mismatch"}},
      {"log",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).change_envelope = [](ledger_format::Envelope& e) { e.origin = kOtherOrigin; };
       },
       Verdict::kFailed,
       {"origin_mismatch"}},
      {"a genesis for another origin",
       [](Forge& forge) {
         schema::LedgerCreated body = forge.genesis_body();
         body.origin = kOtherOrigin;
         forge.at(0).body = write_fields(body);
       },
       Verdict::kFailed,
       {"origin_mismatch"}},
  });
}

void replace(std::string& text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, from.size(), to);
}

TEST(PayloadTest, ASignedPayloadOutsideTheProfileIsFailed) {
  expect_all({
      {"a space",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).change_payload = [](std::string& text) { text += " "; };
       },
       Verdict::kFailed,
       {"payload_noncanonical", "run_unfinished"}},
      {"a duplicate key",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).change_payload = [](std::string& text) {
           replace(text, "\"records\":1", "\"records\":1,\"records\":1");
         };
       },
       Verdict::kFailed,
       {"payload_malformed_json", "run_unfinished"}},
      {"an unknown member of the envelope",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).change_payload = [](std::string& text) {
           replace(text, "\"boot\":", "\"also\":1,\"boot\":");
         };
       },
       Verdict::kFailed,
       {"payload_malformed", "run_unfinished"}},
      {"the subject of another run",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).change_payload = [](std::string& text) {
           replace(text, ledger_format::subject_digest(kOrigin, run_id(1)).hex(),
                   ledger_format::subject_digest(kOrigin, run_id(2)).hex());
         };
       },
       Verdict::kFailed,
       {"subject_mismatch", "run_unfinished"}},
      {"a body that lacks a field",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).body = schema::JsonValue(schema::JsonValue::Object{});
       },
       Verdict::kFailed,
       {"body_malformed", "run_unfinished"}},
  });
}

TEST(PayloadTest, AnUnknownMemberOfABodyIsIgnored) {
  Forge forge;
  forge.add_short_run(1);
  forge.at(2).body.as_object()->emplace_back("later", true);
  EXPECT_EQ(verify_forged(forge).verdict, Verdict::kVerified);
}

TEST(SkippedTest, AnUnknownKindIsInconclusive) {
  Forge forge;
  forge.add_opened(1);
  forge.add_unknown("weather.observed", forge.run_key(1), 1);
  forge.add_closed(1, 2);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"record_skipped"});
  EXPECT_EQ(number_at(report, "coverage/skipped"), 1);
}

TEST(SkippedTest, AnUnknownKindStillNeedsAGoodSignature) {
  Forge forge;
  forge.add_opened(1);
  forge.add_unknown("weather.observed", forge.keys().log, 1);
  forge.add_closed(1, 2);
  EXPECT_EQ(codes(verify_forged(forge)), (Codes{"record_skipped", "wrong_signer"}));
}

TEST(SkippedTest, ASignerBehindASkippedKeyRecordIsInconclusive) {
  Forge forge;
  const crypto::SigningKey next = crypto::SigningKey::generate().value();
  forge.add_unknown("key.delegated", forge.keys().host);
  forge.add_short_run(1);
  forge.at(2).signer = &next;
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), (Codes{"record_skipped", "signer_after_skipped_key"}));
  EXPECT_EQ(number_at(report, "runs/in_scope"), 0);
}

TEST(SpliceTest, ARecordOfAnotherLedgerIsFailed) {
  Forge other(kOtherOrigin);
  other.add_short_run(1);
  Forge forge;
  forge.add_short_run(1);
  // The very bytes of the other ledger's last record.
  const aasm::test::TempDir dir;
  const std::string path = dir.file("ledger.db");
  forge.write(path);
  other.write(dir.file("other.db"));
  doctor(path, "ATTACH '" + dir.file("other.db") +
                   "' AS other;"
                   "DELETE FROM records WHERE seq=2;"
                   "INSERT INTO records SELECT * FROM other.records WHERE seq=2");
  const VerifyReport report = verify(request_for(path, trust_in(forge.keys())));
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(codes(report), (Codes{"prev_mismatch", "origin_mismatch", "wrong_signer",
                                  "signer_not_accepted", "checkpoint_root", "checkpoint_frontier"}))
      << report.text;
}

TEST(ProbeReferenceTest, AReferenceIsResolvedFromTheFile) {
  Forge forge;
  forge.add_sample_run(1);
  forge.add_sample_run(2);
  schema::CapabilityProbed body =
      schema::read_fields<schema::CapabilityProbed>(forge.at(13).body).value();
  // The leaf of record 3 is whatever the file says; read it from a first writing.
  const aasm::test::TempDir dir;
  forge.write(dir.file("first.db"));
  sqlite::Connection db =
      sqlite::Connection::open(dir.file("first.db"), sqlite::OpenMode::kReadOnly).value();
  sqlite::Statement row = db.prepare("SELECT leaf FROM records WHERE seq=3").value();
  ASSERT_TRUE(row.step().value());
  body.domains.clear();
  body.reference = {3, schema::LeafHash::from_span(row.column_blob(0).value()).value()};
  forge.at(13).body = write_fields(body);
  const VerifyReport good = verify_forged(forge);
  EXPECT_EQ(good.verdict, Verdict::kVerified) << good.text;

  body.reference->leaf.bytes[0] ^= 1U;
  forge.at(13).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)), Codes{"probe_reference_differs"});

  body.reference->seq = 4;  // a record of another kind
  forge.at(13).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)),
            (Codes{"probe_reference_dangling", "probe_reference_not_supplied"}));

  body.reference->seq = 14;  // a later record
  forge.at(13).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)),
            (Codes{"probe_reference_dangling", "probe_reference_not_supplied"}));
}

TEST(OpenRunsTest, MoreOpenRunsThanTheLimitAreNotJudged) {
  Forge forge;
  for (int i = 0; i < 1025; ++i) {
    schema::RunOpened body;
    body.identity.agent_id = "agent";
    body.run_key = forge.run_key(1).public_key();
    std::array<std::uint8_t, 10> random{};
    random[8] = static_cast<std::uint8_t>(i / 256);
    random[9] = static_cast<std::uint8_t>(i % 256);
    forge.records().push_back({schema::RunId::make(1767225600000, random),
                               "run.opened",
                               write_fields(body),
                               &forge.keys().host,
                               {},
                               {}});
  }
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kUnreadable);
  EXPECT_EQ(codes(report), Codes{"limit_reached"});
}

// Setup records are kept until their run ends; a run that never stops making them is not.
TEST(OpenRunsTest, ARunThatHoldsMoreThanTheLimitIsNotJudged) {
  Forge forge;
  forge.add_opened(1);
  schema::ControlPrepared part;
  part.backend = "aasm-native";
  part.parts = 300;
  schema::Control control;
  control.id = std::string(60000, 'x');
  part.controls.push_back(control);
  for (part.part = 1; part.part <= 290; ++part.part) {  // more than 16 MiB
    forge.add(1, part);
  }
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kUnreadable) << report.text;
  EXPECT_EQ(codes(report), Codes{"limit_reached"});
}

}  // namespace
}  // namespace aasm::verifier::test
