#include "aasm/ledger_format/receipt.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger_format/dsse.h"
#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/merkle_proof.h"
#include "aasm/ledger_format/note.h"
#include "aasm/ledger_format/pae.h"
#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/temp_dir.h"
#include "writer_home.h"

namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
using ledger_format::Receipt;

// The receipt of the last of two runs, by the real writer.
class ReceiptTest : public testing::Test {
 protected:
  ReceiptTest() {
    home_.add_short_run();
    run_ = home_.add_sample_run();
    bytes_ = home_.receipt(run_);
  }
  VerifyReport judge(const std::string& bytes, VerifyRequest request) const {
    spit(path_, bytes);
    request.target = path_;
    return verify(request);
  }
  VerifyReport judge(const std::string& bytes) const {
    return judge(bytes, request_for(path_, home_.trust()));
  }

  WriterHome home_;
  std::string run_;
  std::string bytes_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("receipt");
};

TEST_F(ReceiptTest, AReceiptOfTheWriterIsVerified) {
  const VerifyReport report = judge(bytes_);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_EQ(*value_at(report.json, "target/kind")->as_string(), "receipt");
  EXPECT_EQ(*value_at(report.json, "receipt/claims")->as_string(), "recorded, not recomputed");
  EXPECT_EQ(*value_at(report.json, "receipt/run")->as_string(), run_);
  EXPECT_EQ(*value_at(report.json, "receipt/ending")->as_string(), "finished");
  EXPECT_NE(report.text.find("recorded, not recomputed"), std::string::npos);
  EXPECT_FALSE(report.new_state.has_value());
}

// Every byte of the proof and its checkpoint, and every seventh of the encoded records.
TEST_F(ReceiptTest, EveryByteIsBound) {
  const std::string small = home_.receipt(home_.add_short_run());
  const std::size_t extra = small.find("extra ");
  const std::size_t index = small.find("\nindex ");
  for (std::size_t i = 0; i<small.size(); i += i> extra + 20 && i + 7 < index ? 7 : 1) {
    std::string changed = small;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    const VerifyReport report = judge(changed);
    ASSERT_NE(report.verdict, Verdict::kVerified) << "byte " << i;
    ASSERT_NE(report.verdict, Verdict::kInconclusive) << "byte " << i;
  }
}

TEST_F(ReceiptTest, ACutReceiptIsNotVerified) {
  for (std::size_t size = 0; size < bytes_.size(); size += 97) {
    ASSERT_NE(judge(bytes_.substr(0, size)).verdict, Verdict::kVerified) << size;
  }
  EXPECT_EQ(codes(judge(bytes_ + "x")), Codes{"receipt_malformed"});
}

TEST_F(ReceiptTest, AnUnknownOriginIsInconclusiveAndForeignUnderExplicitTrust) {
  VerifyRequest request = request_for(path_, {});
  EXPECT_EQ(codes(judge(bytes_, request)), Codes{"origin_not_pinned"});
  request.explicit_trust = true;
  EXPECT_EQ(codes(judge(bytes_, request)), Codes{"foreign_ledger"});
}

TEST_F(ReceiptTest, ARevokedKeyIsFailed) {
  VerifyRequest request = request_for(path_, home_.trust());
  request.trust.keys.revoked.push_back(
      {ledger_format::key_id(home_.home().keys().host.public_key()), 1});
  EXPECT_TRUE(codes(judge(bytes_, request)).count("key_revoked"));
}

TEST_F(ReceiptTest, AReportCannotBeRecomputedFromIt) {
  VerifyRequest request = request_for(path_, home_.trust());
  request.given_report = "{}";
  EXPECT_EQ(codes(judge(bytes_, request)), Codes{"report_not_recomputed"});
}

TEST_F(ReceiptTest, AnotherRunThanTheOneAskedForIsInconclusive) {
  VerifyRequest request = request_for(path_, home_.trust());
  request.run = run_;
  EXPECT_EQ(judge(bytes_, request).verdict, Verdict::kVerified);
  request.run = "ffffffff";
  EXPECT_EQ(codes(judge(bytes_, request)), Codes{"run_not_found"});
}

TEST_F(ReceiptTest, ItIsComparedWithANoteOfTheSameSizeOnly) {
  VerifyRequest request = request_for(path_, home_.trust());
  request.expect_head = home_.head_note();
  EXPECT_EQ(judge(bytes_, request).verdict, Verdict::kVerified);
  home_.add_short_run();
  request.expect_head = home_.head_note();
  EXPECT_EQ(codes(judge(bytes_, request)), Codes{"reference_not_comparable"});
}

TEST_F(ReceiptTest, ALaterLedgerIsComparedWithTheCheckpointThatItHolds) {
  home_.add_short_run();
  VerifyRequest request = request_for(home_.ledger(), home_.trust());
  request.expect_head = bytes_;
  EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
  WriterHome other;
  other.add_short_run();
  request = request_for(other.ledger(), other.trust());
  request.expect_head = bytes_;
  EXPECT_EQ(codes(verify(request)), Codes{"reference_other_origin"});
  request.expect_head = bytes_.substr(0, bytes_.size() / 2);
  EXPECT_EQ(codes(verify(request)), Codes{"reference_unreadable"});
}

// Receipts of a forged ledger, put together record by record.
class ForgedReceipt {
 public:
  explicit ForgedReceipt(const Forge& forge) : forge_(forge) {
    const aasm::test::TempDir dir;
    forge.write(dir.file("ledger.db"));
    sqlite::Connection db =
        sqlite::Connection::open(dir.file("ledger.db"), sqlite::OpenMode::kReadOnly).value();
    sqlite::Statement row =
        db.prepare("SELECT payload,keyid,sig FROM records ORDER BY seq").value();
    while (row.step().value()) {
      ledger_format::DsseEnvelope dsse;
      dsse.payload = std::string(schema::as_text(row.column_blob(0).value()));
      dsse.key = schema::KeyId::from_span(row.column_blob(1).value()).value();
      const schema::ByteView signature = row.column_blob(2).value();
      std::copy(signature.begin(), signature.end(), dsse.signature.begin());
      leaves_.push_back(
          ledger_format::leaf_hash(ledger_format::pae(schema::as_bytes(dsse.payload))));
      records_.push_back(dsse);
    }
  }

  // With the records at `indexes`; the proof is for the last of them.
  Receipt over(const std::vector<std::uint64_t>& indexes) const {
    const auto proofs = ledger_format::make_inclusion_proofs(indexes, leaves_.size(),
                                                             ledger_format::leaf_source(leaves_))
                            .value();
    Receipt receipt;
    for (std::size_t i = 0; i < indexes.size(); ++i) {
      receipt.records.push_back({records_[indexes[i]], indexes[i], proofs.paths[i]});
    }
    receipt.index = indexes.back();
    receipt.path = proofs.paths.back();
    receipt.checkpoint = forge_.note(leaves_.size());
    return receipt;
  }

 private:
  const Forge& forge_;
  std::vector<ledger_format::DsseEnvelope> records_;
  std::vector<schema::LeafHash> leaves_;
};

VerifyReport judge_receipt(const Receipt& receipt, const Forge& forge) {
  const aasm::test::TempDir dir;
  spit(dir.file("receipt"), ledger_format::format_receipt(receipt).value());
  return verify(request_for(dir.file("receipt"), trust_in(forge.keys())));
}

Forge two_runs() {
  Forge forge;
  forge.add_short_run(1);  // 1, 2
  forge.add_short_run(2);  // 3, 4
  return forge;
}

TEST(ForgedReceiptTest, WithItsThreeRecordsItIsVerified) {
  const Forge forge = two_runs();
  const VerifyReport report = judge_receipt(ForgedReceipt(forge).over({0, 3, 4}), forge);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
}

TEST(ForgedReceiptTest, AMissingOrForeignRecordIsFailed) {
  const Forge forge = two_runs();
  const ForgedReceipt made(forge);
  EXPECT_EQ(codes(judge_receipt(made.over({3, 4}), forge)), Codes{"receipt_record_missing"});
  EXPECT_EQ(codes(judge_receipt(made.over({0, 3}), forge)), Codes{"receipt_record_missing"});
  EXPECT_EQ(codes(judge_receipt(made.over({0, 4}), forge)),
            (Codes{"receipt_record_missing", "receipt_record_unexpected", "key_unresolved"}));
  EXPECT_EQ(codes(judge_receipt(made.over({0, 1, 4}), forge)),
            (Codes{"wrong_signer", "receipt_record_unexpected"}));
}

// It stays a receipt of its first run, whose key did not sign the second run's end.
TEST(ForgedReceiptTest, ARunInFrontOfItsOwnIsFailed) {
  const Forge forge = two_runs();
  const VerifyReport report = judge_receipt(ForgedReceipt(forge).over({0, 1, 3, 4}), forge);
  EXPECT_EQ(codes(report), (Codes{"wrong_signer", "receipt_record_unexpected"}));
  EXPECT_EQ(value_at(report.json, "receipt/run"), nullptr);
}

TEST(ForgedReceiptTest, ARecordThatIsNotInTheTreeIsFailed) {
  const Forge forge = two_runs();
  Receipt receipt = ForgedReceipt(forge).over({0, 3, 4});
  receipt.records[1].path[0].bytes[0] ^= 1U;
  EXPECT_EQ(codes(judge_receipt(receipt, forge)), Codes{"receipt_not_included"});
}

// Run 1's end, held up as the end of run 2.
TEST(ForgedReceiptTest, TheEndOfAnotherRunIsFailed) {
  const Forge forge = two_runs();
  Receipt receipt = ForgedReceipt(forge).over({0, 1, 2});
  const Receipt other = ForgedReceipt(forge).over({0, 3, 4});
  receipt.records[2].dsse = other.records[2].dsse;
  const VerifyReport report = judge_receipt(receipt, forge);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_TRUE(codes(report).count("receipt_not_included"));
  EXPECT_TRUE(codes(report).count("sequence_mismatch"));
}

TEST(ForgedReceiptTest, ASignedRecordOutsideTheFormatIsFailed) {
  struct Case {
    const char* code;
    void (*change)(ForgedRecord&);
  };
  const std::vector<Case> cases = {
      {"subject_mismatch",
       [](ForgedRecord& record) {
         record.change_payload = [](std::string& text) {
           const std::string from = ledger_format::subject_digest(kOrigin, run_id(2)).hex();
           text.replace(text.find(from), from.size(),
                        ledger_format::subject_digest(kOrigin, run_id(1)).hex());
         };
       }},
      {"origin_mismatch",
       [](ForgedRecord& record) {
         record.change_envelope = [](ledger_format::Envelope& e) { e.origin = kOtherOrigin; };
       }},
      {"sequence_mismatch",
       [](ForgedRecord& record) {
         record.change_envelope = [](ledger_format::Envelope& e) { e.seq = 9; };
       }},
      {"payload_noncanonical",
       [](ForgedRecord& record) {
         record.change_payload = [](std::string& text) { text += " "; };
       }},
  };
  for (const Case& one : cases) {
    Forge forge = two_runs();
    one.change(forge.at(4));
    const VerifyReport report = judge_receipt(ForgedReceipt(forge).over({0, 3, 4}), forge);
    EXPECT_EQ(report.verdict, Verdict::kFailed) << one.code;
    EXPECT_TRUE(codes(report).count(one.code)) << one.code << report.text;
  }
}

TEST(ForgedReceiptTest, ASkippedKeyRecordIsInconclusive) {
  Forge forge;
  forge.add_unknown("key.delegated", forge.keys().host);
  forge.add_short_run(1);
  const VerifyReport report = judge_receipt(ForgedReceipt(forge).over({0, 1, 2, 3}), forge);
  EXPECT_EQ(codes(report), Codes{"record_skipped"});
}

// It may have brought in the key that signs what comes behind it.
TEST(ForgedReceiptTest, AnotherSignerBehindASkippedKeyRecordIsInconclusive) {
  Forge forge;
  forge.add_unknown("key.delegated", forge.keys().host);
  forge.add_short_run(1);
  forge.at(2).signer = &forge.keys().log;
  const VerifyReport report = judge_receipt(ForgedReceipt(forge).over({0, 1, 2, 3}), forge);
  EXPECT_EQ(codes(report), (Codes{"record_skipped", "signer_after_skipped_key"}));
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
}

// Whoever signed it of those who may.
TEST(ForgedReceiptTest, ARecordOfAnUnknownKindIsUnexpectedAndNoMore) {
  for (const bool by_host : {true, false}) {
    Forge forge;
    forge.add_short_run(1);  // 1, 2
    forge.add_unknown("agent.thought", by_host ? forge.keys().host : forge.run_key(1), 1);
    const VerifyReport report = judge_receipt(ForgedReceipt(forge).over({0, 1, 2, 3}), forge);
    EXPECT_EQ(codes(report), (Codes{"receipt_index_mismatch", "receipt_record_unexpected"}));
  }
}

TEST(ForgedReceiptTest, AnotherLogKeyIsFailed) {
  const Forge forge = two_runs();
  Receipt receipt = ForgedReceipt(forge).over({0, 3, 4});
  const auto said = ledger_format::parse_signed_checkpoint(receipt.checkpoint).value().checkpoint;
  receipt.checkpoint = ledger_format::sign_checkpoint(said, forge.keys().host).value();
  EXPECT_EQ(codes(judge_receipt(receipt, forge)), Codes{"checkpoint_unsigned"});
}

}  // namespace
}  // namespace aasm::verifier::test
