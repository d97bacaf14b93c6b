#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/trust.h"

#include "../crypto/vectors.h"

namespace aasm::ledger_format {
namespace {

using schema::ErrorCode;

constexpr const char* kOrigin = "aasm.example/ledger/0123456789abcdef";
const std::string kKeyId(64, 'a');

std::string vkey(std::uint8_t seed, NoteKeyType type = NoteKeyType::kEd25519) {
  return VerifierKey::make("root.example", type, test::test_key(seed).public_key()).value().text();
}

TEST(TrustKeysTest, RootsAndRevocationsAreRead) {
  const std::string text = "# roots\n\n  root " + std::string(kOrigin) + " \t" + vkey(2) +
                           "\n\t# more\nrevoked " + kKeyId + " 17\nrevoked " +
                           std::string(64, 'b') + " 0\n";
  const TrustKeys keys = parse_trust_keys(text).value();
  ASSERT_EQ(keys.roots.size(), 1U);
  EXPECT_EQ(keys.roots[0].origin, kOrigin);
  EXPECT_EQ(keys.roots[0].key.public_key(), test::test_key(2).public_key());
  ASSERT_EQ(keys.revoked.size(), 2U);
  EXPECT_EQ(keys.revoked[0].key.hex(), kKeyId);
  EXPECT_EQ(keys.revoked[0].size, 17U);
  EXPECT_EQ(keys.revoked[1].size, 0U);
}

TEST(TrustKeysTest, AnEmptyFileTrustsNothing) {
  for (const char* text : {"", "\n", "# nothing\n", " \t \n\n"}) {
    const TrustKeys keys = parse_trust_keys(text).value();
    EXPECT_TRUE(keys.roots.empty() && keys.revoked.empty());
  }
}

TEST(TrustKeysTest, WhatIsFormattedIsReadBack) {
  const std::string text =
      "root " + std::string(kOrigin) + " " + vkey(2) + "\nrevoked " + kKeyId + " 17\n";
  EXPECT_EQ(format_trust_keys(parse_trust_keys(text).value()), text);
}

TEST(TrustKeysTest, EverythingElseIsAnErrorThatNamesTheLine) {
  struct Row {
    std::string line;
    const char* why;
  };
  const std::string root = "root " + std::string(kOrigin) + " ";
  const Row rows[] = {
      {"log " + vkey(2) + "\n", "a line of the other file"},
      {"Root " + std::string(kOrigin) + " " + vkey(2) + "\n", "another case"},
      {root + "\n", "no key"},
      {root + vkey(2) + " more\n", "a word too much"},
      {root + vkey(2) + " # why\n", "a comment after the words"},
      {"root a+b " + vkey(2) + "\n", "no origin"},
      {root + "nonsense\n", "no verifier key"},
      {root + vkey(2, NoteKeyType::kCosignature) + "\n", "a witness key"},
      {root + vkey(2) + "\r\n", "carriage return"},
      {root + vkey(2), "no final newline"},
      {"revoked " + kKeyId + "\n", "no size"},
      {"revoked " + kKeyId + " 1 2\n", "two sizes"},
      {"revoked " + kKeyId + " 01\n", "leading zero"},
      {"revoked " + kKeyId + " -1\n", "negative"},
      {"revoked " + kKeyId + " 18446744073709551616\n", "past 64 bits"},
      {"revoked " + kKeyId.substr(1) + " 1\n", "63 digits"},
      {"revoked " + std::string(64, 'A') + " 1\n", "upper case"},
      {std::string("revoked\0", 8) + kKeyId + " 1\n", "NUL"},
      {"revoked\v" + kKeyId + " 1\n", "another space"},
  };
  for (const Row& row : rows) {
    const schema::Result<TrustKeys> result = parse_trust_keys("# first\n\n" + row.line);
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), ErrorCode::kMalformed) << row.why;
    EXPECT_EQ(result.error().message().substr(0, 8), "line 3: ") << result.error().message();
  }
}

TEST(TrustKeysTest, ASecondStatementAboutOneThingIsRefused) {
  const std::string root = "root " + std::string(kOrigin) + " ";
  EXPECT_FALSE(parse_trust_keys(root + vkey(2) + "\n" + root + vkey(2) + "\n"));
  EXPECT_FALSE(parse_trust_keys(root + vkey(2) + "\n" + root + vkey(3) + "\n"));
  EXPECT_FALSE(parse_trust_keys("revoked " + kKeyId + " 1\nrevoked " + kKeyId + " 2\n"));
  // One root for two origins is fine.
  EXPECT_TRUE(parse_trust_keys(root + vkey(2) + "\nroot other " + vkey(2) + "\n"));
}

TEST(TrustKeysTest, AKeyTypeWeCannotVerifyIsUnsupported) {
  const auto result = parse_trust_keys(
      "root x example.com/foo+530d903a+AukyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(result.error().message().substr(0, 8), "line 1: ");
}

TEST(TrustKeysTest, AFilePastTheLimitIsRefused) {
  EXPECT_TRUE(parse_trust_keys(std::string(kTrustMaxBytes, '\n')));
  EXPECT_FALSE(parse_trust_keys(std::string(kTrustMaxBytes + 1, '\n')));
}

TEST(TrustSetTest, FindsWhatIsPinnedForAnOrigin) {
  TrustSet set;
  const auto log = [](const char* name, std::uint8_t seed) {
    return TrustedLog{
        VerifierKey::make(name, NoteKeyType::kEd25519, test::test_key(seed).public_key()).value(),
        ""};
  };
  set.policy.logs = {log(kOrigin, 1), log("other", 2), log(kOrigin, 3)};
  set.keys = parse_trust_keys("root " + std::string(kOrigin) + " " + vkey(2) + "\nrevoked " +
                              kKeyId + " 17\n")
                 .value();
  ASSERT_NE(set.root_of(kOrigin), nullptr);
  EXPECT_EQ(set.root_of("other"), nullptr);
  EXPECT_EQ(set.logs_of(kOrigin).size(), 2U);
  EXPECT_TRUE(set.logs_of("third").empty());
  ASSERT_NE(set.revocation_of(set.keys.revoked[0].key), nullptr);
  EXPECT_EQ(set.revocation_of(set.keys.revoked[0].key)->size, 17U);
  EXPECT_EQ(set.revocation_of({}), nullptr);
}

}  // namespace
}  // namespace aasm::ledger_format
