#include "aasm/ledger_format/note.h"

#include <string>

#include <gtest/gtest.h>

#include "../crypto/vectors.h"

namespace aasm::ledger_format {
namespace {

using schema::ErrorCode;
using schema::JsonValue;

constexpr std::string_view kDash = "\xE2\x80\x94 ";
constexpr const char* kOrigin = "aasm.example/ledger/7b9f";
constexpr const char* kRoot = "Gip7pq+b+2gEcmxldP+mloNwUQNhNA1LxqYRrxsAeWY=";

Checkpoint sample_checkpoint() {
  Checkpoint checkpoint;
  checkpoint.origin = kOrigin;
  checkpoint.size = 3;
  checkpoint.root = schema::TreeHash::from_hex_text(
                        "1a2a7ba6af9bfb6804726c6574ffa6968370510361340d4bc6a611af1b007966")
                        .value();
  return checkpoint;
}

std::string sample_note() {
  return test::text_at(test::ledger_vectors(), {"section11", "note"});
}

VerifierKey sample_key() {
  return VerifierKey::make(kOrigin, NoteKeyType::kEd25519, test::test_key(1).public_key()).value();
}

TEST(CheckpointTest, SigningGivesTheNoteOfTheSpecification) {
  const std::string note = sign_checkpoint(sample_checkpoint(), test::test_key(1)).value();
  EXPECT_EQ(note, sample_note());
  // The line that docs/spec/ledger-format.md section 11 prints.
  EXPECT_NE(note.find("\xE2\x80\x94 aasm.example/ledger/7b9f 6fQABpWkYIpRV4b358FEBLxCZnYRPFGBq4u+"
                      "QTONLGI0pxf1AWIH9gtP4pnD1SfPWXmKIWIe10F8Qp8aUD9oSRD5Nwo=\n"),
            std::string::npos);
}

TEST(CheckpointTest, ParsingTheNoteGivesTheCheckpointBack) {
  const SignedCheckpoint parsed = parse_signed_checkpoint(sample_note()).value();
  EXPECT_EQ(parsed.checkpoint, sample_checkpoint());
  EXPECT_EQ(format_note(parsed.note), sample_note());
  EXPECT_EQ(verify_note(parsed.note, sample_key()), NoteVerdict::kVerified);
}

TEST(CheckpointTest, SizesRoundTripUpToTheLargest) {
  for (const std::uint64_t size : {0ULL, 1ULL, 10ULL, ~0ULL}) {
    Checkpoint checkpoint = sample_checkpoint();
    checkpoint.size = size;
    EXPECT_EQ(parse_checkpoint(format_checkpoint(checkpoint)).value(), checkpoint);
  }
}

TEST(CheckpointTest, EveryOtherSpellingIsRefused) {
  struct Row {
    std::string text;
    const char* why;
  };
  const std::string origin = std::string(kOrigin) + "\n";
  const std::string root = std::string(kRoot) + "\n";
  ASSERT_TRUE(parse_checkpoint(origin + "3\n" + root));
  const Row rows[] = {
      {"", "empty"},
      {origin, "one line"},
      {origin + "3\n", "two lines"},
      {origin + "3\n" + kRoot, "no final newline"},
      {origin + "3\n" + root + "x\n", "an extension line"},
      {origin + "3\n" + root + "\n", "an empty fourth line"},
      {origin + "3\n" + root + "x", "trailing bytes"},
      {"\n3\n" + root, "empty origin"},
      {"a b\n3\n" + root, "space in the origin"},
      {"a+b\n3\n" + root, "plus in the origin"},
      {origin + "\n" + root, "empty size"},
      {origin + "03\n" + root, "leading zero"},
      {origin + "00\n" + root, "two zeros"},
      {origin + "+3\n" + root, "sign"},
      {origin + "-3\n" + root, "negative"},
      {origin + " 3\n" + root, "space before"},
      {origin + "3 \n" + root, "space after"},
      {origin + "0x3\n" + root, "hex"},
      {origin + "3e1\n" + root, "exponent"},
      {origin + "18446744073709551616\n" + root, "past 64 bits"},
      {origin + "3\r\n" + root, "carriage return"},
      {origin + "3\n\n", "empty root"},
      {origin + "3\nGip7pq+b+2gEcmxldP+mloNwUQNhNA1LxqYRrxsAeWY\n", "no padding"},
      {origin + "3\nGip7pq+b+2gEcmxldP+mloNwUQNhNA1LxqYRrxsAeWZ=\n", "unused bits set"},
      {origin + "3\nGip7pq-b-2gEcmxldP-mloNwUQNhNA1LxqYRrxsAeWY=\n", "URL alphabet"},
      {origin + "3\nGip7pq+b+2gEcmxldP+mloNwUQNhNA1LxqYRrxsAeQ==\n", "31 bytes"},
      {origin + "3\nGip7pq+b+2gEcmxldP+mloNwUQNhNA1LxqYRrxsAeWYA\n", "33 bytes"},
  };
  for (const Row& row : rows) {
    const schema::Result<Checkpoint> result = parse_checkpoint(row.text);
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), ErrorCode::kMalformed) << row.why;
  }
}

TEST(NoteTest, TheExampleOfSignedNoteVerifies) {
  const Note note =
      parse_note(
          "This is an example message.\n\n\xE2\x80\x94 example.com/foo "
          "Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKu"
          "wHjG1Yu72IneyaQM=\n")
          .value();
  const VerifierKey key =
      VerifierKey::parse("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k")
          .value();
  EXPECT_EQ(verify_note(note, key), NoteVerdict::kVerified);
}

TEST(NoteTest, TextMayHoldEmptyLines) {
  const std::string bytes = "a\n\nb\n\n\xE2\x80\x94 n AAAAAAE=\n";
  const Note note = parse_note(bytes).value();
  EXPECT_EQ(note.text, "a\n\nb\n");
  EXPECT_EQ(note.signatures.size(), 1U);
  EXPECT_EQ(format_note(note), bytes);
}

TEST(NoteTest, EveryOtherFormIsRefused) {
  struct Row {
    std::string bytes;
    const char* why;
  };
  const std::string line = std::string(kDash) + "n AAAAAAE=\n";
  ASSERT_TRUE(parse_note("a\n\n" + line));
  const Row rows[] = {
      {"", "empty"},
      {"a\n", "no signatures"},
      {"a\n\n", "no signature line"},
      {"a\n" + line, "no blank line"},
      {"a\n\n" + line + "x", "bytes after the signatures"},
      {"a\n\n" + line + "\n", "a blank line after the signatures"},
      {"a\n\n" + line.substr(0, line.size() - 1), "no final newline"},
      {"a\n\n- n AAAAAAE=\n", "a hyphen for the dash"},
      {"a\n\n\xE2\x80\x94n AAAAAAE=\n", "no space after the dash"},
      {"a\n\n" + std::string(kDash) + " AAAAAAE=\n", "no name"},
      {"a\n\n" + std::string(kDash) + "n+m AAAAAAE=\n", "plus in the name"},
      {"a\n\n" + std::string(kDash) + "n\n", "no base64"},
      {"a\n\n" + std::string(kDash) + "n \n", "empty base64"},
      {"a\n\n" + std::string(kDash) + "n  AAAAAAE=\n", "two spaces"},
      {"a\n\n" + std::string(kDash) + "n AAAAAAE= \n", "space at the end"},
      {"a\n\n" + std::string(kDash) + "n AAAAAAE\n", "no padding"},
      {"a\n\n" + std::string(kDash) + "n AAAAAAF=\n", "unused bits set"},
      {"a\n\n" + std::string(kDash) + "n AAAAAA==\n", "key id and no signature"},
      {"a\n\n" + std::string(kDash) + "n AAAA\n", "less than a key id"},
      {"a\t\n\n" + line, "tab"},
      {"a\r\n\n" + line, "carriage return"},
      {std::string("a\0\n\n", 4) + line, "NUL"},
      {"a\xFF\n\n" + line, "bad UTF-8"},
      {std::string(kNoteMaxBytes, 'a') + "\n\n" + line, "too long"},
  };
  for (const Row& row : rows) {
    const schema::Result<Note> result = parse_note(row.bytes);
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), ErrorCode::kMalformed) << row.why;
  }
}

// Case L52.
TEST(NoteTest, SixtyFourSignaturesAreReadAndNoMore) {
  const std::string line = std::string(kDash) + "n AAAAAAE=\n";
  std::string bytes = "a\n\n";
  for (std::size_t i = 0; i < kNoteMaxSignatures; ++i) {
    bytes += line;
  }
  EXPECT_TRUE(parse_note(bytes));
  EXPECT_FALSE(parse_note(bytes + line));
}

TEST(NoteTest, OtherKeysSignaturesAreIgnored) {
  Note note = parse_note(sample_note()).value();
  NoteSignature stranger = note.signatures.front();
  stranger.name = "stranger.example";
  stranger.signature = {1, 2, 3};
  note.signatures.insert(note.signatures.begin(), stranger);
  NoteSignature same_name = note.signatures.back();
  same_name.note_key_id ^= 1;
  note.signatures.push_back(same_name);
  EXPECT_EQ(verify_note(note, sample_key()), NoteVerdict::kVerified);
  note.signatures = {stranger, same_name};
  EXPECT_EQ(verify_note(note, sample_key()), NoteVerdict::kNoSignature);
}

TEST(NoteTest, ADuplicateIsGoodOnlyIfBothAre) {
  Note note = parse_note(sample_note()).value();
  note.signatures.push_back(note.signatures.front());
  EXPECT_EQ(verify_note(note, sample_key()), NoteVerdict::kVerified);
  EXPECT_TRUE(parse_note(format_note(note)));
  for (const std::size_t position : {0U, 1U}) {
    Note changed = note;
    changed.signatures[position].signature[0] ^= 1;
    EXPECT_EQ(verify_note(changed, sample_key()), NoteVerdict::kBadSignature);
  }
}

TEST(NoteTest, AChangedTextIsABadSignature) {
  const Note note = parse_note(sample_note()).value();
  for (std::size_t i = 0; i < note.text.size(); ++i) {
    Note changed = note;
    changed.text[i] = static_cast<char>(changed.text[i] ^ 1);
    EXPECT_EQ(verify_note(changed, sample_key()), NoteVerdict::kBadSignature) << i;
  }
}

TEST(NoteTest, ASignatureOfAnotherLengthIsBad) {
  Note note = parse_note(sample_note()).value();
  note.signatures.front().signature.push_back(0);
  EXPECT_EQ(verify_note(note, sample_key()), NoteVerdict::kBadSignature);
  note.signatures.front().signature.resize(63);
  EXPECT_EQ(verify_note(note, sample_key()), NoteVerdict::kBadSignature);
}

TEST(NoteTest, SigningRefusesWhatCouldNotBeParsed) {
  const crypto::SigningKey key = test::test_key(1);
  EXPECT_TRUE(sign_note("a\n", "n", key));
  for (const std::string text : {"", "a", "a\tb\n", "\xFF\n"}) {
    const auto result = sign_note(text, "n", key);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(sign_note("a\n", "n m", key));
  EXPECT_FALSE(sign_note("a\n", "", key));
}

class CosignatureTest : public testing::Test {
 protected:
  const JsonValue vectors_ = test::ledger_vectors();
  const Note note_ = parse_note(test::text_at(vectors_, {"cosigned", "note"})).value();
  const VerifierKey witness_ =
      VerifierKey::parse(test::text_at(vectors_, {"cosigned", "witness_vkey"})).value();
};

TEST_F(CosignatureTest, AWitnessesSignatureVerifiesAndStatesItsTime) {
  EXPECT_EQ(verify_note(note_, witness_), NoteVerdict::kVerified);
  ASSERT_EQ(note_.signatures.size(), 2U);
  EXPECT_EQ(cosignature_time(note_.signatures[1]), 1679315147U);
  EXPECT_EQ(cosignature_time(note_.signatures[0]), std::nullopt);
}

TEST_F(CosignatureTest, AnotherTimeIsABadSignature) {
  Note changed = note_;
  changed.signatures[1].signature[7] ^= 1;
  EXPECT_EQ(verify_note(changed, witness_), NoteVerdict::kBadSignature);
  changed.signatures[1].signature[0] = 0x80;  // past 2^63-1
  EXPECT_EQ(cosignature_time(changed.signatures[1]), std::nullopt);
  EXPECT_EQ(verify_note(changed, witness_), NoteVerdict::kBadSignature);
}

TEST_F(CosignatureTest, APlainSignatureOfAWitnessDoesNotCount) {
  Note changed = note_;
  const crypto::Signature plain = test::test_key(5).sign(schema::as_bytes(note_.text)).value();
  changed.signatures[1].signature.assign(plain.begin(), plain.end());
  EXPECT_EQ(verify_note(changed, witness_), NoteVerdict::kBadSignature);
}

}  // namespace
}  // namespace aasm::ledger_format
