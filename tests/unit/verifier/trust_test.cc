#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/note.h"

#include "judge.h"
#include "support/temp_dir.h"
#include "writer_home.h"

namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
using ledger_format::TrustSet;

// Forge `forge` on disk, judged with any trust.
class TrustTest : public testing::Test {
 protected:
  TrustTest() {
    forge_.add_short_run(1);
    forge_.add_short_run(2);
    forge_.write(path_);
  }
  VerifyReport with(const TrustSet& trust, bool explicit_trust = false) const {
    VerifyRequest request = request_for(path_, trust);
    request.explicit_trust = explicit_trust;
    return verify(request);
  }
  VerifyReport with_head(const std::string& note, bool own = false) const {
    VerifyRequest request = request_for(path_, trust_in(forge_.keys()));
    request.head_notes = {head_of(note)};
    request.own_ledger = own;
    return verify(request);
  }

  Forge forge_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
};

// Cases L20 and L21.
TEST_F(TrustTest, AnOriginThatIsNotPinnedIsInconclusiveAndSaysUnpinned) {
  const VerifyReport report = with(TrustSet());
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"origin_not_pinned"});
  EXPECT_EQ(*value_at(report.json, "trust/banner")->as_string(), "UNPINNED");
  EXPECT_NE(report.text.find("UNPINNED"), std::string::npos);
  EXPECT_FALSE(report.new_state.has_value());
}

TEST_F(TrustTest, WithAnExplicitTrustFileItIsAForeignLedger) {
  const VerifyReport report = with(trust_in(Keys(), kOtherOrigin), true);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(codes(report), Codes{"foreign_ledger"});
}

// The whole ledger made anew with other keys: nothing in the file can tell.
// Case L19.
TEST_F(TrustTest, ALedgerResignedWithFreshKeysIsFailedWhenPinnedAndInconclusiveWhenNot) {
  const VerifyReport pinned = with(trust_in(Keys()));
  EXPECT_EQ(pinned.verdict, Verdict::kFailed);
  EXPECT_EQ(codes(pinned), (Codes{"root_mismatch", "log_key_mismatch"}));
  EXPECT_EQ(*value_at(pinned.json, "trust/pinned")->as_bool(), false);
  EXPECT_EQ(with(TrustSet()).verdict, Verdict::kInconclusive);
}

TEST_F(TrustTest, AnotherLogKeyUnderThePinnedRootIsFailed) {
  TrustSet trust = trust_in(forge_.keys());
  trust.policy.logs = trust_in(Keys()).policy.logs;
  EXPECT_EQ(codes(with(trust)), Codes{"log_key_mismatch"});
}

TEST_F(TrustTest, ARootWithoutALogKeyIsInconclusive) {
  TrustSet trust = trust_in(forge_.keys());
  trust.policy.logs.clear();
  const VerifyReport report = with(trust);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"log_not_pinned"});
}

// Case L25.
TEST_F(TrustTest, ARevokedKeyIsFailedFromItsLimitOn) {
  TrustSet trust = trust_in(forge_.keys());
  const schema::KeyId host = ledger_format::key_id(forge_.keys().host.public_key());
  trust.keys.revoked.push_back({host, 3});
  const VerifyReport report = with(trust);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(codes(report), (Codes{"key_revoked", "key_revoked_before_limit"}));
  EXPECT_EQ(count_of(report, "key_revoked"), 1);  // run.opened at 3
}

// Case L25.
TEST_F(TrustTest, BeforeItsLimitAnUnanchoredSignatureIsInconclusive) {
  TrustSet trust = trust_in(forge_.keys());
  trust.keys.revoked.push_back({ledger_format::key_id(forge_.keys().host.public_key()), 1000});
  const VerifyReport report = with(trust);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"key_revoked_before_limit"});
}

TEST_F(TrustTest, ARevokedLogKeyIsFailedFromItsLimitOn) {
  TrustSet trust = trust_in(forge_.keys());
  trust.keys.revoked.push_back({ledger_format::key_id(forge_.keys().log.public_key()), 3});
  const VerifyReport report = with(trust);
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(count_of(report, "key_revoked"), 1);  // the checkpoint of size 5
}

// What the root signed are the certificates of record 0: they stand at position 0.
TEST_F(TrustTest, ARevokedRootKeyIsFailedOrInconclusiveByItsLimit) {
  TrustSet trust = trust_in(forge_.keys());
  const schema::KeyId root = ledger_format::key_id(forge_.keys().root.public_key());
  trust.keys.revoked.push_back({root, 0});
  EXPECT_EQ(codes(with(trust)), Codes{"key_revoked"});
  trust.keys.revoked.back().size = 1000;
  EXPECT_EQ(codes(with(trust)), Codes{"key_revoked_before_limit"});
}

TEST_F(TrustTest, ARequiredWitnessThatIsAbsentIsInconclusive) {
  TrustSet trust = trust_in(forge_.keys());
  const crypto::SigningKey witness = crypto::SigningKey::generate().value();
  trust.policy.witnesses.push_back(
      {"w",
       ledger_format::VerifierKey::make("witness.example", ledger_format::NoteKeyType::kCosignature,
                                        witness.public_key())
           .value(),
       ""});
  trust.policy.quorum = "w";
  const VerifyReport report = with(trust);
  EXPECT_EQ(report.verdict, Verdict::kInconclusive);
  EXPECT_EQ(codes(report), Codes{"witness_quorum_not_met"});
}

TEST_F(TrustTest, AHeadThatAgreesIsListed) {
  const VerifyReport report = with_head(forge_.note(3));
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
  EXPECT_NE(report.text.find("compared    heads, size 3: agrees"), std::string::npos)
      << report.text;
  EXPECT_EQ(report.text.find("would look the same"), std::string::npos);
}

// Case L13.
TEST_F(TrustTest, AHeadAheadOfTheFileIsRolledBack) {
  Forge longer = forge_;  // shares the keys
  longer.add_short_run(3);
  const VerifyReport report = with_head(longer.note(7));
  EXPECT_EQ(report.verdict, Verdict::kFailed);
  EXPECT_EQ(codes(report), Codes{"rolled_back"});
}

TEST_F(TrustTest, AHeadOfAnotherHistoryIsForked) {
  ledger_format::Checkpoint said =
      ledger_format::parse_signed_checkpoint(forge_.note(3)).value().checkpoint;
  said.root.bytes[0] ^= 1U;
  const std::string note = ledger_format::sign_checkpoint(said, forge_.keys().log).value();
  const VerifyReport report = with_head(note);
  EXPECT_EQ(codes(report), Codes{"forked"});
  // Both notes are in the report, for whoever must find out which one is the lie.
  EXPECT_NE(report.text.find(ledger_format::format_checkpoint(said).substr(0, 20)),
            std::string::npos);
}

TEST_F(TrustTest, AHeadThatIsNoEvidenceIsNotTakenForOne) {
  ledger_format::Note note = ledger_format::parse_note(forge_.note(3)).value();
  note.signatures[0].signature[9] ^= 1U;
  EXPECT_EQ(codes(with_head(ledger_format::format_note(note))), Codes{"reference_bad_signature"});
  const ledger_format::Checkpoint said =
      ledger_format::parse_signed_checkpoint(forge_.note(3)).value().checkpoint;
  EXPECT_EQ(codes(with_head(ledger_format::sign_checkpoint(said, forge_.keys().host).value())),
            Codes{"reference_not_signed"});
  VerifyRequest request = request_for(path_, trust_in(forge_.keys()));
  request.head_notes = {{head_of(forge_.note(3)).name, "garbage"}};
  EXPECT_EQ(codes(verify(request)), Codes{"reference_unreadable"});
}

TEST_F(TrustTest, AHeadOfAnotherOriginCountsForThisHostsOwnLedgerOnly) {
  Forge other(kOtherOrigin);
  other.add_short_run(1);
  EXPECT_EQ(with_head(other.note(3)).verdict, Verdict::kVerified);
  EXPECT_EQ(codes(with_head(other.note(3), true)), Codes{"reference_other_origin"});
}

// Several pinned origins: the note of the file's own counts, whichever it is, and no other does.
TEST_F(TrustTest, TheHeadOfTheFilesOriginCountsWhereverItStandsInTheList) {
  Forge other(kOtherOrigin);
  other.add_short_run(1);
  Forge longer = forge_;
  longer.add_short_run(3);
  for (const bool first : {true, false}) {
    VerifyRequest request = request_for(path_, trust_in(forge_.keys()));
    request.own_ledger = true;
    request.head_notes = {head_of(other.note(3)), head_of(forge_.note(3))};
    EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
    request.head_notes = {head_of(first ? longer.note(7) : other.note(3)),
                          head_of(first ? other.note(3) : longer.note(7))};
    EXPECT_EQ(codes(verify(request)), Codes{"rolled_back"}) << first;
  }
}

// Case L10.
TEST_F(TrustTest, AnEmptiedLedgerOfThisHostIsRolledBack) {
  doctor(path_, "DELETE FROM records; DELETE FROM checkpoints");
  EXPECT_EQ(codes(with_head(forge_.note(5), true)), (Codes{"empty_ledger", "rolled_back"}));
  EXPECT_EQ(codes(with_head(forge_.note(5), false)), Codes{"empty_ledger"});
}

TEST_F(TrustTest, StateAndExpectedHeadAreComparedToo) {
  VerifyRequest request = request_for(path_, trust_in(forge_.keys()));
  request.state = forge_.note(3);
  request.expect_head = forge_.note(5);
  const VerifyReport report = verify(request);
  EXPECT_EQ(report.verdict, Verdict::kVerified);
  EXPECT_EQ(value_at(report.json, "coverage/compared_with")->as_array()->size(), 2U);
  EXPECT_EQ(report.new_state, forge_.note(5));

  Forge longer = forge_;
  longer.add_short_run(3);
  request.state = longer.note(7);
  EXPECT_EQ(codes(verify(request)), Codes{"rolled_back"});

  Forge other(kOtherOrigin);
  request.state = other.note(1);
  EXPECT_EQ(codes(verify(request)), Codes{"reference_other_origin"});
}

TEST(RollbackTest, AnOlderCopyOfTheWritersLedgerIsRolledBack) {
  WriterHome home;
  home.add_short_run();
  const std::string older = home.home().file("older.db");
  doctor(home.ledger(), "PRAGMA wal_checkpoint(TRUNCATE)");
  spit(older, slurp(home.ledger()));
  home.add_short_run();
  VerifyRequest request = home.request();
  request.head_notes = {head_of(home.head_note())};
  EXPECT_EQ(verify(request).verdict, Verdict::kVerified);
  request.target = older;
  EXPECT_EQ(codes(verify(request)), Codes{"rolled_back"});
}

}  // namespace
}  // namespace aasm::verifier::test
