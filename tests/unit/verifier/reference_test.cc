#include <set>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/keys.h"
#include "aasm/ledger_format/merkle.h"
#include "aasm/ledger_format/note.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/record_keys.h"

#include "forge.h"
#include "judge.h"
#include "support/temp_dir.h"

// Notes kept elsewhere, held against a ledger whose log key was changed (docs/spec/verify-rules.md,
// Notes from elsewhere).
namespace aasm::verifier::test {
namespace {

using Codes = std::set<std::string>;
using crypto::SigningKey;

// Records: 0 genesis, 1-2 a run, 3 the change of the log key, 4-5 a run.
class ReferenceTest : public testing::Test {
 protected:
  ReferenceTest() {
    forge_.add_short_run(1);
    schema::KeyRotated body;
    body.purpose = "log";
    body.old_key = first().public_key();
    body.new_key = second_.public_key();
    body.new_signature =
        schema::to_base64(ledger_format::sign_rotation(second_, kOrigin, body.old_key).value());
    const std::string message =
        ledger_format::rotation_message(kOrigin, body.old_key, body.new_key);
    body.old_signature = schema::to_base64(first().sign(schema::as_bytes(message)).value());
    forge_.add_ledger(body, forge_.keys().host);
    forge_.use_log(second_);
    forge_.add_short_run(2);
    forge_.write(path_);
  }
  const SigningKey& first() const { return forge_.keys().log; }
  static std::string changed(const std::string& text) {
    ledger_format::Note note = ledger_format::parse_note(text).value();
    note.signatures.front().signature[9] ^= 1U;
    return ledger_format::format_note(note);
  }
  static std::string signature_line(const std::string& text) {
    return text.substr(text.rfind("\n\n") + 2);
  }
  // What is found with only this note kept, and nothing pinned but the root.
  Codes against(const std::string& note) const {
    VerifyRequest request = request_for(path_, trust_in(forge_.keys()));
    request.trust.policy.logs.clear();
    request.expect_head = note;
    Codes found = codes(verify(request));
    EXPECT_EQ(found.erase("log_not_pinned"), 1U);
    return found;
  }

  const SigningKey second_ = SigningKey::generate().value();
  Forge forge_;
  aasm::test::TempDir dir_;
  std::string path_ = dir_.file("ledger.db");
};

TEST_F(ReferenceTest, EveryLogKeyOfTheFileMayHaveSignedIt) {
  EXPECT_EQ(against(forge_.note(3)), Codes{});
  EXPECT_EQ(against(forge_.note(4)), Codes{});
  EXPECT_EQ(against(forge_.note(6)), Codes{});
  const auto said = ledger_format::parse_signed_checkpoint(forge_.note(6)).value().checkpoint;
  EXPECT_EQ(against(ledger_format::sign_checkpoint(said, forge_.keys().host).value()),
            Codes{"reference_not_signed"});
}

TEST_F(ReferenceTest, ABadSignatureInTheNameOfALaterLogKeyIsFound) {
  EXPECT_EQ(against(changed(forge_.note(3))), Codes{"reference_bad_signature"});
  EXPECT_EQ(against(changed(forge_.note(6))), Codes{"reference_bad_signature"});
}

TEST_F(ReferenceTest, ABadSignatureIsFoundWhoeverElseSigned) {
  const std::string bad = signature_line(changed(forge_.note(6)));
  EXPECT_EQ(against(forge_.note(3) + bad), Codes{"reference_bad_signature"});
  // And it takes nothing from the signature that holds.
  auto said = ledger_format::parse_signed_checkpoint(forge_.note(3)).value().checkpoint;
  said.root.bytes[0] ^= 1U;
  EXPECT_EQ(against(ledger_format::sign_checkpoint(said, first()).value() + bad),
            (Codes{"forked", "reference_bad_signature"}));
}

// The thief of a later log key signs an earlier size: that tree is known, too.
TEST_F(ReferenceTest, ASizeThatWasPassedBeforeTheKeyCameInIsCompared) {
  auto said = ledger_format::parse_signed_checkpoint(forge_.note(3)).value().checkpoint;
  EXPECT_EQ(against(ledger_format::sign_checkpoint(said, second_).value()), Codes{});
  said.root.bytes[0] ^= 1U;
  EXPECT_EQ(against(ledger_format::sign_checkpoint(said, second_).value()), Codes{"forked"});
}

TEST_F(ReferenceTest, ANoteOfNoRecordsHasTheRootOfNone) {
  ledger_format::Checkpoint none{kOrigin, 0, ledger_format::empty_root()};
  EXPECT_EQ(against(ledger_format::sign_checkpoint(none, first()).value()), Codes{});
  none.root.bytes[0] ^= 1U;
  EXPECT_EQ(against(ledger_format::sign_checkpoint(none, first()).value()), Codes{"forked"});
}

TEST_F(ReferenceTest, ALongerHistoryIsMissedWhicheverKeySignedIt) {
  auto said = ledger_format::parse_signed_checkpoint(forge_.note(6)).value().checkpoint;
  said.size = 7;
  for (const SigningKey* key : {&first(), &second_}) {
    EXPECT_EQ(against(ledger_format::sign_checkpoint(said, *key).value()), Codes{"rolled_back"});
  }
}

}  // namespace
}  // namespace aasm::verifier::test
