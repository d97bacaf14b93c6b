#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/note.h"
#include "aasm/sqlite/connection.h"

#include "judge.h"
#include "support/temp_dir.h"

namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
using ledger_format::NoteKeyType;
using ledger_format::VerifierKey;

// A ledger of five records whose trust file asks for one witness.
class WitnessTest : public testing::Test {
 protected:
  WitnessTest() : witness_(crypto::SigningKey::generate().value()) {
    forge_.add_short_run(1);
    forge_.add_short_run(2);
    forge_.write(path_);
    trust_ = trust_in(forge_.keys());
    trust_.policy.witnesses.push_back({"w", key(), ""});
    trust_.policy.quorum = "w";
  }

  VerifierKey key() const {
    return VerifierKey::make("witness.example", NoteKeyType::kCosignature, witness_.public_key())
        .value();
  }

  // The note of `size`, with a cosignature/v1 of the witness (c2sp.org/tlog-cosignature).
  std::string cosigned(std::uint64_t size) const {
    ledger_format::Note note = ledger_format::parse_note(forge_.note(size)).value();
    const std::string message = "cosignature/v1\ntime 7\n" + note.text;
    const crypto::Signature made = witness_.sign(schema::as_bytes(message)).value();
    schema::Bytes signature(8, 0);
    signature[7] = 7;
    signature.insert(signature.end(), made.begin(), made.end());
    note.signatures.push_back({key().name(), key().note_key_id(), signature});
    return ledger_format::format_note(note);
  }

  void set_note(std::int64_t size, const std::string& note) const {
    sqlite::Connection db = sqlite::Connection::open(path_, sqlite::OpenMode::kReadWrite).value();
    sqlite::Statement update = db.prepare("UPDATE checkpoints SET note=?2 WHERE size=?1").value();
    update.bind_int(1, size).value();
    update.bind_blob(2, schema::as_bytes(note)).value();
    update.run().value();
  }

  VerifyReport verify_now(const std::string& run = "") const {
    VerifyRequest request = request_for(path_, trust_);
    request.run = run;
    return verify(request);
  }

  Forge forge_;
  crypto::SigningKey witness_;
  ledger_format::TrustSet trust_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
};

TEST_F(WitnessTest, ACosignedCheckpointOverAllOfItIsVerified) {
  set_note(5, cosigned(5));
  const VerifyReport report = verify_now();
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_EQ(number_at(report, "coverage/witnessed_up_to"), 5);
}

TEST_F(WitnessTest, WithoutOneItIsInconclusive) {
  EXPECT_EQ(codes(verify_now()), Codes{"witness_quorum_not_met"});
}

TEST_F(WitnessTest, OneOverAPartIsEnoughForARunInThatPart) {
  set_note(3, cosigned(3));
  EXPECT_EQ(codes(verify_now()), Codes{"witness_quorum_not_met"});
  EXPECT_EQ(verify_now(run_id(1).text()).verdict, Verdict::kVerified);
  EXPECT_EQ(codes(verify_now(run_id(2).text())), Codes{"witness_quorum_not_met"});
}

// What follows the newest checkpoint is not asked for a witness: it has findings of its own.
TEST_F(WitnessTest, AnOpenRunBehindAWitnessedLedgerAsksForNoMore) {
  forge_.add_opened(3);
  forge_.checkpoint_at_end = false;
  std::filesystem::remove(path_);
  forge_.write(path_);
  set_note(5, cosigned(5));
  EXPECT_EQ(codes(verify_now()), (Codes{"run_unfinished", "tail_unsigned"}));
  VerifyRequest request = request_for(path_, trust_);
  request.allow_open = true;
  EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
}

TEST_F(WitnessTest, AForgedCosignatureIsFailed) {
  ledger_format::Note note = ledger_format::parse_note(cosigned(5)).value();
  note.signatures.back().signature[20] ^= 1U;
  set_note(5, ledger_format::format_note(note));
  EXPECT_EQ(codes(verify_now()), (Codes{"witness_bad_signature", "witness_quorum_not_met"}));
}

// What a key signed before it was revoked counts when witnesses had seen it by then.
TEST_F(WitnessTest, AWitnessedSignatureBeforeTheLimitOfARevokedKeyCounts) {
  trust_.keys.revoked.push_back({ledger_format::key_id(forge_.keys().host.public_key()), 1000});
  EXPECT_TRUE(codes(verify_now()).count("key_revoked_before_limit"));
  set_note(5, cosigned(5));
  const VerifyReport report = verify_now();
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
}

// A checkpoint that was witnessed only after the revocation proves nothing about the time before.
TEST_F(WitnessTest, AWitnessedTreeLargerThanTheLimitDoesNotHelp) {
  trust_.keys.revoked.push_back({ledger_format::key_id(forge_.keys().host.public_key()), 4});
  set_note(5, cosigned(5));
  EXPECT_EQ(codes(verify_now()), Codes{"key_revoked_before_limit"});
}

}  // namespace
}  // namespace aasm::verifier::test
