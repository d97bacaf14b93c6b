#include "aasm/ledger_format/vkey.h"

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "../crypto/vectors.h"

namespace aasm::ledger_format {
namespace {

using schema::ErrorCode;

// docs/spec/ledger-format.md section 11, and the example of c2sp.org/signed-note.
constexpr const char* kOurs =
    "aasm.example/ledger/7b9f+e9f40006+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c";
constexpr const char* kC2sp =
    "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

TEST(VerifierKeyTest, TheSpecificationsKeyIsMadeAndParsed) {
  const VerifierKey parsed = VerifierKey::parse(kOurs).value();
  EXPECT_EQ(parsed.name(), "aasm.example/ledger/7b9f");
  EXPECT_EQ(parsed.type(), NoteKeyType::kEd25519);
  EXPECT_EQ(parsed.note_key_id(), 0xe9f40006U);
  EXPECT_EQ(parsed.public_key(), test::test_key(1).public_key());
  EXPECT_EQ(parsed.text(), kOurs);
  const VerifierKey made = VerifierKey::make("aasm.example/ledger/7b9f", NoteKeyType::kEd25519,
                                             test::test_key(1).public_key())
                               .value();
  EXPECT_EQ(made, parsed);
}

TEST(VerifierKeyTest, TheExampleOfSignedNoteRoundTrips) {
  EXPECT_EQ(VerifierKey::parse(kC2sp).value().text(), kC2sp);
}

TEST(VerifierKeyTest, AWitnessKeyRoundTrips) {
  const std::string text = test::text_at(test::ledger_vectors(), {"cosigned", "witness_vkey"});
  const VerifierKey key = VerifierKey::parse(text).value();
  EXPECT_EQ(key.type(), NoteKeyType::kCosignature);
  EXPECT_EQ(key.text(), text);
}

TEST(VerifierKeyTest, EveryOtherSpellingIsRefused) {
  struct Row {
    std::string text;
    const char* why;
  };
  const std::string name = "example.com/foo";
  const std::string key = "AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";
  const Row rows[] = {
      {"", "empty"},
      {name, "no id"},
      {name + "+530d903a", "no key"},
      {name + "+530d903a+", "empty key"},
      {"+530d903a+" + key, "empty name"},
      {name + "+530D903A+" + key, "upper-case id"},
      {name + "+530d903b+" + key, "another id"},
      {name + "+0530d903a+" + key, "longer id"},
      {"example.com/fop+530d903a+" + key, "another name"},
      {name + "+530d903a+" + key + " ", "trailing space"},
      {name + "+530d903a+" + key + "=", "padding too much"},
      {name + "+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3Q==", "31-byte key"},
      {"example com/foo+530d903a+" + key, "space in the name"},
  };
  for (const Row& row : rows) {
    const schema::Result<VerifierKey> result = VerifierKey::parse(row.text);
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), ErrorCode::kMalformed) << row.why;
  }
}

TEST(VerifierKeyTest, AnotherSignatureTypeIsUnsupported) {
  const schema::Result<VerifierKey> result =
      VerifierKey::parse("example.com/foo+530d903a+AukyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kUnsupported);
}

TEST(VerifierKeyTest, AKeyOfSmallOrderIsRefusedBothWays) {
  schema::PublicKey identity;
  identity.bytes[0] = 1;
  EXPECT_FALSE(VerifierKey::make("a", NoteKeyType::kEd25519, identity));
  // "a", type 1 and the identity, with the key id that belongs to them.
  const std::string id = [] {
    schema::PublicKey key;
    key.bytes[0] = 1;
    const std::uint32_t number = note_key_id("a", NoteKeyType::kEd25519, key);
    return schema::to_hex(std::array<std::uint8_t, 4>{
        static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
        static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)});
  }();
  const auto result =
      VerifierKey::parse("a+" + id + "+AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("small order"), std::string::npos);
}

TEST(KeyNameTest, UnicodeSpacesControlsAndPlusAreNotPartOfANameNorIsBadUtf8) {
  for (const char* name : {"a", "example.com/foo", "w\xC3\xB6rld", "\xE2\x80\x94", "DSSEv1"}) {
    EXPECT_TRUE(is_key_name(name)) << name;
  }
  for (const std::string_view name :
       {std::string_view(), std::string_view("a b"), std::string_view("a+b"),
        std::string_view("a\tb"), std::string_view("a\nb"), std::string_view("a\0b", 3),
        std::string_view("a\x1f"), std::string_view("\xFF"), std::string_view("a\xC2\x85"),
        std::string_view("a\xC2\xA0z"), std::string_view("\xE1\x9A\x80"),
        std::string_view("a\xE2\x80\x83"), std::string_view("a\xE2\x80\xA8"),
        std::string_view("\xE3\x80\x80")}) {
    EXPECT_FALSE(is_key_name(name)) << schema::to_hex(schema::as_bytes(name));
  }
  EXPECT_TRUE(is_key_name(std::string(255, 'a')));
  EXPECT_FALSE(is_key_name(std::string(256, 'a')));
}

}  // namespace
}  // namespace aasm::ledger_format
