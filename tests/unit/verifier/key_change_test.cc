#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/record_keys.h"

#include "forge.h"
#include "judge.h"
#include "support/temp_dir.h"

// key.rotated, key.replaced and key.revoked: each verdict, each wrong order, each missing
// signature (docs/spec/ledger-format.md section 5).
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
using crypto::SigningKey;
using ledger_format::KeyPurpose;

SigningKey new_key() {
  return SigningKey::generate().value();
}

schema::KeyRotated rotation(const std::string& purpose, const SigningKey& from,
                            const SigningKey& to) {
  schema::KeyRotated body;
  body.purpose = purpose;
  body.old_key = from.public_key();
  body.new_key = to.public_key();
  body.new_signature =
      schema::to_base64(ledger_format::sign_rotation(to, kOrigin, from.public_key()).value());
  if (purpose == "log") {
    const std::string message =
        ledger_format::rotation_message(kOrigin, from.public_key(), to.public_key());
    body.old_signature = schema::to_base64(from.sign(schema::as_bytes(message)).value());
  }
  return body;
}

schema::KeyReplaced replacement(KeyPurpose purpose, const SigningKey& root, const SigningKey& from,
                                const SigningKey& to) {
  schema::KeyReplaced body;
  body.certificate = {
      std::string(to_string(purpose)), to.public_key(),
      schema::to_base64(
          ledger_format::sign_certificate(root, kOrigin, purpose, to.public_key()).value())};
  body.old_key = from.public_key();
  return body;
}

schema::KeyRevoked revocation(const SigningKey& root, const SigningKey& key, std::uint64_t limit) {
  schema::KeyRevoked body;
  body.key = ledger_format::key_id(key.public_key());
  body.limit = limit;
  body.signature =
      schema::to_base64(ledger_format::sign_revocation(root, kOrigin, body.key, limit).value());
  return body;
}

// Record 0, and one short run: records 1 and 2. The next record has number 3.
class KeyChangeTest : public testing::Test {
 protected:
  KeyChangeTest() { forge_.add_short_run(1); }

  void rotate_host(const SigningKey& from, const SigningKey& to) {
    forge_.add_ledger(rotation("host", from, to), from);
    forge_.use_host(to);
  }
  void rotate_log(const SigningKey& from, const SigningKey& to) {
    forge_.add_ledger(rotation("log", from, to), forge_.keys().host);
    forge_.use_log(to);
  }
  void replace_host(const SigningKey& from, const SigningKey& to) {
    forge_.add_ledger(replacement(KeyPurpose::kHost, forge_.keys().root, from, to), to);
    forge_.use_host(to);
  }
  Codes found() const { return codes(verify_forged(forge_)); }
  Verdict verdict() const { return verify_forged(forge_).verdict; }
  const Keys& keys() const { return forge_.keys(); }

  Forge forge_;
  SigningKey second_ = new_key();
  SigningKey third_ = new_key();
};

// Case L22.
TEST_F(KeyChangeTest, RotationsOfBothKeysVerifyAndRunsGoOn) {
  rotate_host(keys().host, second_);
  forge_.add_short_run(2);
  rotate_log(keys().log, third_);
  forge_.at(6).signer = &second_;  // the host key in force
  forge_.add_short_run(3);
  const VerifyReport report = verify_forged(forge_);
  EXPECT_EQ(report.verdict, Verdict::kVerified) << report.text;
}

TEST_F(KeyChangeTest, ARunThatWasOpenDuringARotationVerifies) {
  forge_.add_opened(2);
  rotate_host(keys().host, second_);
  forge_.add_closed(2, 1);
  forge_.add_short_run(3);
  EXPECT_EQ(found(), Codes{});
}

TEST_F(KeyChangeTest, ARetiredHostKeyOpensNoRun) {
  rotate_host(keys().host, second_);
  forge_.use_host(keys().host);
  forge_.add_short_run(2);
  EXPECT_EQ(found(), (Codes{"signer_not_accepted", "wrong_signer"}));
}

TEST_F(KeyChangeTest, AKeyNewerThanItsPlaceOpensNoRun) {
  forge_.use_host(second_);
  forge_.add_short_run(2);
  rotate_host(keys().host, second_);
  EXPECT_EQ(found(), (Codes{"signer_not_accepted", "wrong_signer"}));
}

TEST_F(KeyChangeTest, ARetiredLogKeySignsNoCheckpoint) {
  rotate_log(keys().log, second_);
  forge_.add_short_run(2);
  forge_.use_log(keys().log);
  forge_.add_short_run(3);
  EXPECT_EQ(found(), Codes{"checkpoint_unsigned"});
}

TEST_F(KeyChangeTest, TheCheckpointOverARotationIsTheNewKeys) {
  forge_.add_ledger(rotation("log", keys().log, second_), keys().host);
  EXPECT_EQ(found(), Codes{"checkpoint_unsigned"});  // over the rotation, by the old key
}

TEST_F(KeyChangeTest, ARotationNeedsTheNewKeysSignature) {
  schema::KeyRotated body = rotation("host", keys().host, second_);
  body.new_signature = rotation("host", keys().host, third_).new_signature;
  forge_.add_ledger(body, keys().host);
  EXPECT_EQ(found(), Codes{"key_change_bad"});
}

TEST_F(KeyChangeTest, ARotationOfTheLogKeyNeedsTheOldLogKeysSignature) {
  schema::KeyRotated body = rotation("log", keys().log, second_);
  const std::string message =
      ledger_format::rotation_message(kOrigin, keys().log.public_key(), second_.public_key());
  body.old_signature = schema::to_base64(keys().host.sign(schema::as_bytes(message)).value());
  forge_.add_ledger(body, keys().host);
  forge_.use_log(second_);
  EXPECT_EQ(found(), Codes{"key_change_bad"});
}

TEST_F(KeyChangeTest, ARotationIsSignedByTheOldHostKey) {
  forge_.add_ledger(rotation("host", keys().host, second_), second_);
  EXPECT_EQ(found(), Codes{"wrong_signer"});
}

TEST_F(KeyChangeTest, ARotationOfAnotherLedgerIsNoneHere) {
  schema::KeyRotated body = rotation("host", keys().host, second_);
  body.new_signature = schema::to_base64(
      ledger_format::sign_rotation(second_, kOtherOrigin, keys().host.public_key()).value());
  forge_.add_ledger(body, keys().host);
  EXPECT_EQ(found(), Codes{"key_change_bad"});
}

TEST_F(KeyChangeTest, ARotationFromAKeyNotInForceIsStale) {
  rotate_host(keys().host, second_);
  forge_.add_ledger(rotation("host", keys().host, third_), second_);
  EXPECT_EQ(found(), Codes{"key_change_stale"});
}

TEST_F(KeyChangeTest, ARotationPlayedAgainIsFailed) {
  rotate_host(keys().host, second_);
  rotate_host(second_, third_);
  forge_.add_ledger(rotation("host", keys().host, second_), third_);
  EXPECT_EQ(found(), (Codes{"key_change_stale", "key_reused"}));
}

TEST_F(KeyChangeTest, AReplacementByTheRootAloneVerifies) {
  replace_host(keys().host, second_);
  forge_.add_short_run(2);
  forge_.add_ledger(replacement(KeyPurpose::kLog, keys().root, keys().log, third_), second_);
  forge_.use_log(third_);
  forge_.add_short_run(3);
  EXPECT_EQ(found(), Codes{});
}

TEST_F(KeyChangeTest, AReplacedHostKeyIsOutFromThereOn) {
  replace_host(keys().host, second_);
  forge_.use_host(keys().host);
  forge_.add_short_run(2);
  EXPECT_EQ(found(), (Codes{"signer_not_accepted", "wrong_signer"}));
}

TEST_F(KeyChangeTest, AReplacementOfTheHostKeyIsSignedByTheNewOne) {
  forge_.add_ledger(replacement(KeyPurpose::kHost, keys().root, keys().host, second_), keys().host);
  EXPECT_EQ(found(), Codes{"wrong_signer"});
}

TEST_F(KeyChangeTest, AReplacementNeedsTheRootsCertificateForThatPurpose) {
  const SigningKey other_root = new_key();
  schema::KeyReplaced wrong_purpose =
      replacement(KeyPurpose::kLog, keys().root, keys().host, second_);
  wrong_purpose.certificate.purpose = "host";
  for (const schema::KeyReplaced& body :
       {replacement(KeyPurpose::kHost, other_root, keys().host, second_), wrong_purpose}) {
    Forge forge = forge_;
    forge.add_ledger(body, second_);
    EXPECT_EQ(codes(verify_forged(forge)), Codes{"certificate_bad"});
  }
}

// The thief of a replaced key has its certificate from record 0, good for ever.
TEST_F(KeyChangeTest, AnOldCertificatePlayedAgainBringsNoKeyBack) {
  replace_host(keys().host, second_);
  forge_.add_ledger(replacement(KeyPurpose::kHost, keys().root, second_, keys().host), keys().host);
  EXPECT_EQ(found(), Codes{"key_reused"});
}

TEST_F(KeyChangeTest, AHostKeyIsNoLogKeyAndTheRootIsNeither) {
  for (const SigningKey* key : {&keys().host, &keys().log, &keys().root}) {
    Forge forge = forge_;
    forge.add_ledger(replacement(KeyPurpose::kLog, keys().root, keys().log, *key), keys().host);
    forge.use_log(*key);
    EXPECT_EQ(codes(verify_forged(forge)), Codes{"key_reused"});
  }
}

TEST_F(KeyChangeTest, ARevokedKeyThatSignedAtTheLimitIsFailed) {
  replace_host(keys().host, second_);
  forge_.add_ledger(revocation(keys().root, keys().host, 1), second_);  // it signed 1, run.opened
  EXPECT_TRUE(found().count("key_revoked"));
  EXPECT_EQ(verdict(), Verdict::kFailed);
}

TEST_F(KeyChangeTest, ARevokedKeyThatSignedBeforeTheLimitIsInconclusive) {
  replace_host(keys().host, second_);
  forge_.add_ledger(revocation(keys().root, keys().host, 3), second_);
  EXPECT_EQ(found(), Codes{"key_revoked_before_limit"});
  EXPECT_EQ(verdict(), Verdict::kInconclusive);
}

TEST_F(KeyChangeTest, ARevokedKeyThatSignsLaterIsFailed) {
  forge_.add_ledger(revocation(keys().root, keys().host, 4), keys().host);
  EXPECT_EQ(verdict(), Verdict::kInconclusive);
  forge_.add_short_run(2);
  EXPECT_EQ(found(), Codes{"key_revoked"});
}

TEST_F(KeyChangeTest, ARevokedLogKeyIsJudgedByItsCheckpoints) {
  forge_.add_ledger(replacement(KeyPurpose::kLog, keys().root, keys().log, second_), keys().host);
  forge_.use_log(second_);
  Forge before = forge_;
  before.add_ledger(revocation(keys().root, keys().log, 3), keys().host);
  EXPECT_EQ(codes(verify_forged(before)), Codes{"key_revoked_before_limit"});
  Forge after = forge_;
  after.add_ledger(revocation(keys().root, keys().log, 2), keys().host);  // it signed size 3
  EXPECT_EQ(codes(verify_forged(after)), Codes{"key_revoked"});
}

TEST_F(KeyChangeTest, TheSmallestLimitOfSeveralCounts) {
  replace_host(keys().host, second_);
  forge_.add_ledger(revocation(keys().root, keys().host, 1), second_);
  forge_.add_ledger(revocation(keys().root, keys().host, 3), second_);
  EXPECT_TRUE(found().count("key_revoked"));
}

TEST_F(KeyChangeTest, ARevocationNeedsTheRootsSignatureOverItsLimit) {
  replace_host(keys().host, second_);
  schema::KeyRevoked other_limit = revocation(keys().root, keys().host, 3);
  other_limit.limit = 1;
  for (const schema::KeyRevoked& body : {revocation(second_, keys().host, 3), other_limit}) {
    Forge forge = forge_;
    forge.add_ledger(body, second_);
    EXPECT_EQ(codes(verify_forged(forge)), Codes{"revocation_bad"});
  }
}

TEST_F(KeyChangeTest, ARevokedKeyIsNotPutInForce) {
  forge_.add_ledger(revocation(keys().root, second_, 0), keys().host);
  EXPECT_EQ(found(), Codes{"revoked_key_unknown"});
  replace_host(keys().host, second_);
  EXPECT_TRUE(found().count("key_revoked"));
}

TEST_F(KeyChangeTest, TheTrustFileMayPinTheOldOrTheNewLogKeyAndOnlyTheRightRoot) {
  rotate_log(keys().log, second_);
  forge_.add_short_run(2);
  const aasm::test::TempDir dir;
  const std::string path = dir.file("ledger.db");
  forge_.write(path);
  ledger_format::TrustSet trust = trust_in(keys());
  EXPECT_EQ(verify(request_for(path, trust)).verdict, Verdict::kVerified);
  const auto vkey = [](const std::string& name, const SigningKey& key) {
    return ledger_format::VerifierKey::make(name, ledger_format::NoteKeyType::kEd25519,
                                            key.public_key())
        .value();
  };
  trust.policy.logs = {{vkey(kOrigin, second_), ""}};
  const VerifyReport newer = verify(request_for(path, trust));
  EXPECT_EQ(newer.verdict, Verdict::kVerified) << newer.text;
  EXPECT_NE(newer.text.find(", pinned"), std::string::npos);
  trust.policy.logs = {{vkey(kOrigin, third_), ""}};
  EXPECT_EQ(codes(verify(request_for(path, trust))), Codes{"log_key_mismatch"});

  trust = trust_in(keys());
  trust.keys.roots = {{kOrigin, vkey("root", third_)}};
  EXPECT_TRUE(codes(verify(request_for(path, trust))).count("root_mismatch"));
}

TEST_F(KeyChangeTest, AHeadByTheNewLogKeyIsCompared) {
  rotate_log(keys().log, second_);
  forge_.add_short_run(2);
  const aasm::test::TempDir dir;
  forge_.write(dir.file("ledger.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(keys()));
  request.head_notes = {head_of(forge_.note(6))};
  EXPECT_EQ(verify(request).verdict, Verdict::kVerified) << verify(request).text;
  Forge longer = forge_;
  longer.add_short_run(3);
  request.head_notes = {head_of(longer.note(8))};
  EXPECT_EQ(codes(verify(request)), Codes{"rolled_back"});
}

}  // namespace
}  // namespace aasm::verifier::test
