#include <set>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/record_keys.h"
#include "aasm/sqlite/connection.h"

#include "forge.h"
#include "judge.h"
#include "support/temp_dir.h"

// Where docs/spec/ledger-format.md could be read in two ways: what docs/spec/verify-rules.md says
// (decision record 0013).
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
using crypto::SigningKey;

SigningKey new_key() {
  return SigningKey::generate().value();
}

void add_rotation(Forge& forge, const SigningKey& from, const SigningKey& to) {
  schema::KeyRotated body;
  body.purpose = "host";
  body.old_key = from.public_key();
  body.new_key = to.public_key();
  body.new_signature =
      schema::to_base64(ledger_format::sign_rotation(to, kOrigin, from.public_key()).value());
  forge.add_ledger(body, from);
  forge.use_host(to);
}

void add_revocation(Forge& forge, const SigningKey& key, std::uint64_t limit,
                    const SigningKey& host) {
  schema::KeyRevoked body;
  body.key = ledger_format::key_id(key.public_key());
  body.limit = limit;
  body.signature = schema::to_base64(
      ledger_format::sign_revocation(forge.keys().root, kOrigin, body.key, limit).value());
  forge.add_ledger(body, host);
}

TEST(EndingTest, AnEndThatCannotBeReadLeavesTheRunUnfinished) {
  for (const bool recovered : {false, true}) {
    Forge forge;
    forge.add_opened(1);
    recovered ? forge.add_recovered(1, "run.opened", false) : forge.add_closed(1, 1);
    forge.at(2).body = schema::JsonValue(schema::JsonValue::Object{});
    VerifyRequest request;
    request.allow_open = true;  // nothing can follow: it is not open
    request.require_close = true;
    const VerifyReport report = verify_forged(forge, request);
    EXPECT_EQ(codes(report), (Codes{"body_malformed", "run_unfinished"})) << report.text;
    EXPECT_EQ(number_at(report, "coverage/unfinished/count"), 1);
    EXPECT_EQ(number_at(report, "coverage/closed"), 0);
    EXPECT_EQ(number_at(report, "coverage/interrupted/count"), 0);
  }
}

TEST(SkippedKeyTest, ALogKeyBehindASkippedKeyRecordIsInconclusiveLikeAHostKey) {
  const SigningKey next = new_key();
  Forge forge;
  forge.add_unknown("key.delegated", forge.keys().host);
  forge.use_log(next);
  forge.add_short_run(1);
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(codes(report), (Codes{"record_skipped", "signer_after_skipped_key"})) << report.text;
  EXPECT_EQ(count_of(report, "signer_after_skipped_key"), 2);  // of sizes 2 and 4
  EXPECT_EQ(number_at(report, "coverage/signed_up_to"), 0);
}

TEST(SkippedKeyTest, ABadSignatureOfTheLogKeyIsNotExcused) {
  Forge forge;
  forge.add_unknown("key.delegated", forge.keys().host);
  forge.add_short_run(1);
  const aasm::test::TempDir dir;
  const std::string path = dir.file("ledger.db");
  forge.write(path);
  ledger_format::Note note = ledger_format::parse_note(forge.note(4)).value();
  note.signatures.front().signature[9] ^= 1U;
  sqlite::Connection db = sqlite::Connection::open(path, sqlite::OpenMode::kReadWrite).value();
  sqlite::Statement update = db.prepare("UPDATE checkpoints SET note=?1 WHERE size=4").value();
  const std::string text = ledger_format::format_note(note);
  update.bind_blob(1, schema::as_bytes(text)).value();
  update.run().value();
  EXPECT_EQ(codes(verify(request_for(path, trust_in(forge.keys())))),
            (Codes{"checkpoint_bad_signature", "record_skipped"}));
}

TEST(LimitTest, OfSeveralLimitsTheSmallestGivesOneFinding) {
  const SigningKey second = new_key();
  Forge forge;
  forge.add_short_run(1);
  add_rotation(forge, forge.keys().host, second);
  for (const std::uint64_t limit : {1000U, 2U, 1U, 3U}) {
    add_revocation(forge, forge.keys().host, limit, second);
  }
  const VerifyReport report = verify_forged(forge);
  EXPECT_EQ(codes(report), Codes{"key_revoked"}) << report.text;
  EXPECT_EQ(count_of(report, "key_revoked"), 1);  // at its last place, 3
}

TEST(LimitTest, ALimitOfTheTrustFileAndOneOfARecordAreOne) {
  struct Case {
    std::uint64_t trusted;
    std::uint64_t stated;
    Codes codes;
    std::int64_t count;
  };
  const Case cases[] = {{2, 1, {"key_revoked"}, 1},  // it signed 0, 1 and last 3
                        {1000, 3, {"key_revoked"}, 1},
                        {900, 1000, {"key_revoked_before_limit"}, 1},
                        {1000, 900, {"key_revoked_before_limit"}, 1}};
  for (const Case& one : cases) {
    const SigningKey second = new_key();
    Forge forge;
    forge.add_short_run(1);
    add_rotation(forge, forge.keys().host, second);
    add_revocation(forge, forge.keys().host, one.stated, second);
    const aasm::test::TempDir dir;
    forge.write(dir.file("ledger.db"));
    ledger_format::TrustSet trust = trust_in(forge.keys());
    trust.keys.revoked.push_back(
        {ledger_format::key_id(forge.keys().host.public_key()), one.trusted});
    const VerifyReport report = verify(request_for(dir.file("ledger.db"), trust));
    EXPECT_TRUE(codes(report).count(*one.codes.begin())) << report.text;
    EXPECT_EQ(count_of(report, *one.codes.begin()), one.count) << one.trusted << report.text;
  }
}

TEST(KeyCheckpointTest, AChangeOfKeysIsFollowedByItsCheckpoint) {
  const SigningKey second = new_key();
  const SigningKey third = new_key();
  Forge forge;
  add_rotation(forge, forge.keys().host, second);
  add_rotation(forge, second, third);
  Forge before_run = forge;
  before_run.add_short_run(1);
  EXPECT_EQ(codes(verify_forged(before_run)), Codes{});
  before_run.skipped_checkpoints = {2};  // one over both is enough
  EXPECT_EQ(codes(verify_forged(before_run)), Codes{});
  before_run.skipped_checkpoints = {2, 3};
  EXPECT_EQ(codes(verify_forged(before_run)), Codes{"checkpoint_cadence"});
  EXPECT_EQ(count_of(verify_forged(before_run), "checkpoint_cadence"), 1);
  forge.skipped_checkpoints = {2, 3};  // and at the end of the file
  EXPECT_EQ(codes(verify_forged(forge)), (Codes{"checkpoint_cadence", "tail_unsigned"}));
}

// What a report prints of a file that failed is for whoever looks into it, and is no evidence.
TEST(EvidenceTest, ClaimsOfAFailedFileArePrintedAsNone) {
  Forge forge;
  forge.add_sample_run(1);
  VerifyRequest request;
  request.run = run_id(1).text();
  const VerifyReport good = verify_forged(forge, request);
  EXPECT_EQ(*value_at(good.json, "runs/evidence")->as_bool(), true);
  EXPECT_NE(good.text.find("claims, recomputed (1 finished)"), std::string::npos) << good.text;
  EXPECT_NE(good.text.find("--- execution isolation ---"), std::string::npos);

  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  ledger_format::TrustSet trust = trust_in(forge.keys());
  trust.keys.revoked.push_back({ledger_format::key_id(forge.keys().host.public_key()), 0});
  request = request_for(dir.file("ledger.db"), trust);
  request.run = run_id(1).text();
  const VerifyReport revoked = verify(request);
  EXPECT_EQ(codes(revoked), Codes{"key_revoked"});
  EXPECT_EQ(*value_at(revoked.json, "runs/evidence")->as_bool(), false);
  EXPECT_NE(revoked.text.find("what the records claim; NO EVIDENCE, for this file is FAILED"),
            std::string::npos)
      << revoked.text;
  EXPECT_EQ(revoked.text.find("claims, recomputed"), std::string::npos);
  EXPECT_EQ(revoked.text.find("--- execution isolation ---"), std::string::npos);
}

// The two notes of one size by which anybody can show that two histories were signed.
TEST(ForkTest, WhatTheFileItselfSignedIsGivenOut) {
  Forge forge;
  forge.add_short_run(1);
  ledger_format::Checkpoint said =
      ledger_format::parse_signed_checkpoint(forge.note(3)).value().checkpoint;
  said.root.bytes[0] ^= 1U;
  const std::string note = ledger_format::sign_checkpoint(said, forge.keys().log).value();
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), trust_in(forge.keys()));
  EXPECT_FALSE(verify(request).fork_note.has_value());
  request.expect_head = note;
  const VerifyReport report = verify(request);
  EXPECT_EQ(codes(report), Codes{"forked"});
  EXPECT_EQ(report.fork_note, forge.note(3));
  EXPECT_FALSE(report.new_state.has_value());
}

// Without anything pinned: the notes in heads/ of the host that the file stands on.
TEST(OwnHeadTest, HeadsCountForTheHostsOwnLedgerWithoutATrustFile) {
  Forge forge;
  forge.add_short_run(1);
  Forge longer = forge;
  longer.add_short_run(2);
  const aasm::test::TempDir dir;
  forge.write(dir.file("ledger.db"));
  VerifyRequest request = request_for(dir.file("ledger.db"), {});
  request.own_ledger = true;
  request.head_notes = {head_of(forge.note(3))};
  EXPECT_EQ(codes(verify(request)), Codes{"origin_not_pinned"});
  request.head_notes = {head_of(longer.note(5))};
  EXPECT_EQ(codes(verify(request)), (Codes{"origin_not_pinned", "rolled_back"}));
  request.head_notes = {head_of(Forge(kOtherOrigin).note(1))};
  EXPECT_EQ(codes(verify(request)), (Codes{"origin_not_pinned", "reference_other_origin"}));
}

}  // namespace
}  // namespace aasm::verifier::test
