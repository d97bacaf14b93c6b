#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/schema/base64.h"
#include "aasm/sqlite/connection.h"

#include "claims/sample_run.h"
#include "judge.h"
#include "support/temp_dir.h"

// Ledgers made by somebody who holds keys and breaks a rule: hashes and signatures are all sound.
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;

struct Case {
  const char* what;
  void (*build)(Forge&);
  Verdict verdict;
  Codes codes;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    Forge forge;
    one.build(forge);
    const VerifyReport report = verify_forged(forge);
    EXPECT_EQ(report.verdict, one.verdict) << one.what << "\n" << report.text;
    EXPECT_EQ(codes(report), one.codes) << one.what << "\n" << report.text;
  }
}

TEST(RunStateTest, ARunThatBreaksItsOrderIsFailed) {
  expect_all({
      {"a record after run.closed",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.add(1, schema::ObservationBatch{});
       },
       Verdict::kFailed,
       {"record_after_close"}},
      {"a second run.closed",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.add_closed(1, 2);
       },
       Verdict::kFailed,
       {"record_after_close"}},
      {"a recovery after run.closed",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.add_recovered(1, "run.closed", false);
       },
       Verdict::kFailed,
       {"record_after_close"}},
      {"a second run.opened while open",
       [](Forge& forge) {
         forge.add_opened(1);
         forge.add_opened(1);
         forge.add_closed(1, 1);
       },
       Verdict::kFailed,
       {"run_reopened"}},
      {"a second run.opened after the end",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.add_opened(1);
       },
       Verdict::kFailed,
       {"run_reopened"}},
      {"a run that was never opened",
       [](Forge& forge) { forge.add_closed(1, 1); },
       Verdict::kFailed,
       {"run_not_opened"}},
      {"two starts",
       [](Forge& forge) {
         forge.add_sample_run(1);
         forge.records().insert(forge.records().begin() + 8, forge.at(7));
         schema::RunClosed closed =
             schema::read_fields<schema::RunClosed>(forge.records().back().body).value();
         closed.records = 10;
         forge.records().back().body = write_fields(closed);
       },
       Verdict::kFailed,
       {"start_repeated", "record_repeated"}},
      {"a wrong count in run.closed",
       [](Forge& forge) {
         forge.add_opened(1);
         forge.add_closed(1, 2);
       },
       Verdict::kFailed,
       {"records_count_mismatch"}},
      {"a recovery that says the program cannot have run",
       [](Forge& forge) {
         forge.add_sample_run(1);
         forge.records().resize(7);  // up to boundary.proved
         forge.add_recovered(1, "boundary.proved", false);
       },
       Verdict::kFailed,
       {"recovery_differs"}},
      {"a recovery that names another last record",
       [](Forge& forge) {
         forge.add_opened(1);
         forge.add_recovered(1, "plan.resolved", false);
       },
       Verdict::kFailed,
       {"recovery_differs"}},
      {"a second ledger.created",
       [](Forge& forge) { forge.add_genesis(); },
       Verdict::kFailed,
       {"genesis_repeated"}},
      {"a first record of another kind",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.records().erase(forge.records().begin());
       },
       Verdict::kFailed,
       {"genesis_missing", "key_unresolved", "signer_not_accepted"}},
  });
}

TEST(RunStateTest, ARecordInTheMiddleOfAListIsFailed) {
  Forge forge;
  forge.add_opened(1);
  schema::ControlPrepared part;
  part.backend = "aasm-native";
  part.part = 1;
  part.parts = 2;
  forge.add(1, part);
  forge.add(1, schema::PolicyResolved{});
  part.part = 2;
  forge.add(1, part);
  forge.add_closed(1, 4);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(codes(report), Codes{"part_missing"}) << report.text;
}

TEST(RunStateTest, AListThatStopsShortIsFailed) {
  Forge forge;
  forge.add_opened(1);
  schema::ControlPrepared part;
  part.backend = "aasm-native";
  part.parts = 2;
  forge.add(1, part);
  forge.add_closed(1, 2);
  EXPECT_EQ(codes(verify_forged(forge)), Codes{"part_missing"});
}

TEST(RunStateTest, AContradictionOfTheClaimsIsFailed) {
  Forge forge;
  forge.add_sample_run(1);
  std::swap(forge.at(5).body, forge.at(7).body);  // control.prepared after process.started
  std::swap(forge.at(5).kind, forge.at(7).kind);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_TRUE(codes(report).count("control_after_start")) << report.text;
}

TEST(SignerTest, AWrongSignerIsFailed) {
  expect_all({
      {"run.opened by a run key",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(1).signer = &forge.run_key(1);
       },
       Verdict::kFailed,
       {"wrong_signer", "signer_not_accepted"}},
      {"run.closed by the host key",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(2).signer = &forge.keys().host;
       },
       Verdict::kFailed,
       {"wrong_signer", "signer_not_accepted"}},
      {"a record of run 1 by the key of run 2",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.add_short_run(2);
         forge.at(2).signer = &forge.run_key(2);
       },
       Verdict::kFailed,
       {"wrong_signer", "signer_not_accepted"}},
      {"run.recovered by the run key",
       [](Forge& forge) {
         forge.add_opened(1);
         forge.add_recovered(1, "run.opened", false);
         forge.at(2).signer = &forge.run_key(1);
       },
       Verdict::kFailed,
       {"wrong_signer", "signer_not_accepted"}},
      {"run.opened by the log key",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(1).signer = &forge.keys().log;
       },
       Verdict::kFailed,
       {"wrong_signer", "signer_not_accepted"}},
      {"record 0 by the root key",
       [](Forge& forge) {
         forge.add_short_run(1);
         forge.at(0).signer = &forge.keys().root;
       },
       Verdict::kFailed,
       {"wrong_signer"}},
  });
}

// A key id is a hint: naming the right key without having it helps nobody.
TEST(SignerTest, ASignatureInTheNameOfAnotherKeyIsFailed) {
  Forge forge;
  forge.add_short_run(1);
  const schema::KeyId host = ledger_format::key_id(forge.keys().host.public_key());
  forge.at(1).signer = &forge.keys().log;
  forge.at(1).change_envelope = [host](ledger_format::Envelope& envelope) { envelope.key = host; };
  EXPECT_EQ(codes(verify_forged(forge)), (Codes{"bad_signature", "signer_not_accepted"}));
}

TEST(SignerTest, ARunKeyThatVerifiesForgeriesIsFailed) {
  Forge forge;
  forge.add_short_run(1);
  schema::RunOpened body = schema::read_fields<schema::RunOpened>(forge.at(1).body).value();
  body.run_key = schema::PublicKey{};  // y = 0: a point of order 4
  forge.at(1).body = write_fields(body);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_TRUE(codes(report).count("run_key_unacceptable"));
}

TEST(CertificateTest, EachCertificateIsChecked) {
  for (const bool host : {true, false}) {
    Forge forge;
    forge.add_short_run(1);
    schema::LedgerCreated body = forge.genesis_body();
    schema::KeyCertificate& certificate = host ? body.host : body.log;
    schema::Bytes signature = schema::from_base64(certificate.signature).value();
    signature[3] ^= 1U;
    certificate.signature = schema::to_base64(signature);
    forge.at(0).body = write_fields(body);
    EXPECT_EQ(codes(verify_forged(forge)), Codes{"certificate_bad"}) << host;
  }
}

TEST(CertificateTest, ACertificateForAnotherPurposeOrOriginIsFailed) {
  Forge forge;
  forge.add_short_run(1);
  schema::LedgerCreated body = forge.genesis_body();
  body.host.signature = schema::to_base64(
      ledger_format::sign_certificate(forge.keys().root, kOrigin, ledger_format::KeyPurpose::kLog,
                                      body.host.key)
          .value());
  forge.at(0).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)), Codes{"certificate_bad"});
  body = forge.genesis_body();
  body.host.signature = schema::to_base64(
      ledger_format::sign_certificate(forge.keys().root, kOtherOrigin,
                                      ledger_format::KeyPurpose::kHost, body.host.key)
          .value());
  forge.at(0).body = write_fields(body);
  EXPECT_EQ(codes(verify_forged(forge)), Codes{"certificate_bad"});
}

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
  forge.records().push_back({run_id(1),
                             "weather.observed",
                             schema::JsonValue(schema::JsonValue::Object{}),
                             &forge.run_key(1),
                             {},
                             {}});
  forge.add_closed(1, 2);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"record_skipped"});
  EXPECT_EQ(number_at(report, "coverage/skipped"), 1);
}

TEST(SkippedTest, AnUnknownKindStillNeedsAGoodSignature) {
  Forge forge;
  forge.add_opened(1);
  forge.records().push_back({run_id(1),
                             "weather.observed",
                             schema::JsonValue(schema::JsonValue::Object{}),
                             &forge.keys().log,
                             {},
                             {}});
  forge.add_closed(1, 2);
  EXPECT_EQ(codes(verify_forged(forge)), (Codes{"record_skipped", "wrong_signer"}));
}

TEST(SkippedTest, ASignerBehindASkippedKeyRecordIsInconclusive) {
  Forge forge;
  const crypto::SigningKey next = crypto::SigningKey::generate().value();
  forge.records().push_back({schema::RunId(),
                             "key.delegated",
                             schema::JsonValue(schema::JsonValue::Object{}),
                             &forge.keys().host,
                             {},
                             {}});
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
