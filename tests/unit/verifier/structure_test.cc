#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/schema/base64.h"

#include "claims/sample_run.h"
#include "forged_cases.h"
#include "judge.h"

// Who may sign what, and in which order: forged ledgers that break it.
namespace aasm::verifier::test {
namespace {

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

TEST(RunStateTest, APolicyInPartsStandsTogether) {
  const auto part = [](std::int64_t number) {
    schema::PolicyResolved policy;
    policy.part = number;
    policy.parts = 2;
    return policy;
  };
  Forge whole;
  whole.add_opened(1);
  whole.add(1, part(1));
  whole.add(1, part(2));
  whole.add_closed(1, 3);
  EXPECT_EQ(codes(verify_forged(whole)), Codes{});
  Forge apart;
  apart.add_opened(1);
  apart.add(1, part(1));
  apart.add(1, schema::PlanRefused{});
  apart.add(1, part(2));
  apart.add_closed(1, 4);
  EXPECT_TRUE(codes(verify_forged(apart)).count("part_missing"));
  Forge cut;
  cut.add_opened(1);
  cut.add(1, part(1));
  cut.add_closed(1, 2);
  EXPECT_EQ(codes(verify_forged(cut)), Codes{"part_missing"});
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

}  // namespace
}  // namespace aasm::verifier::test
