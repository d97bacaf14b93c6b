#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "aasm/ledger_format/trust.h"

#include "../crypto/vectors.h"

namespace aasm::ledger_format {
namespace {

using schema::ErrorCode;

std::string log_key(std::uint8_t seed) {
  return VerifierKey::make("log.example/l", NoteKeyType::kEd25519,
                           test::test_key(seed).public_key())
      .value()
      .text();
}

std::string witness_key(std::uint8_t seed) {
  return VerifierKey::make("w.example/" + std::to_string(seed), NoteKeyType::kCosignature,
                           test::test_key(seed).public_key())
      .value()
      .text();
}

std::string witness_line(const std::string& name, std::uint8_t seed) {
  return "witness " + name + " " + witness_key(seed) + "\n";
}

// The example of c2sp.org/tlog-policy.
std::string example_policy() {
  return "log " + log_key(1) + "\n\n" + witness_line("X1", 11) + witness_line("X2", 12) +
         witness_line("X3", 13) + "group X-witnesses 2 X1 X2 X3\n\n" + witness_line("Y1", 21) +
         witness_line("Y2", 22) + witness_line("Y3", 23) +
         "group Y-witnesses any Y1 Y2 Y3\n\ngroup X-and-Y all X-witnesses Y-witnesses\n"
         "quorum X-and-Y\n";
}

TEST(TrustPolicyTest, TheExampleOfTlogPolicyIsRead) {
  const TrustPolicy policy = parse_trust_policy(example_policy()).value();
  ASSERT_EQ(policy.logs.size(), 1U);
  EXPECT_EQ(policy.logs[0].key.name(), "log.example/l");
  EXPECT_EQ(policy.witnesses.size(), 6U);
  ASSERT_EQ(policy.groups.size(), 3U);
  EXPECT_EQ(policy.groups[0].threshold, 2U);
  EXPECT_EQ(policy.groups[1].threshold, 1U);
  EXPECT_EQ(policy.groups[2].threshold, 2U);
  EXPECT_EQ(policy.groups[2].members, (std::vector<std::string>{"X-witnesses", "Y-witnesses"}));
  EXPECT_EQ(policy.quorum, "X-and-Y");
  EXPECT_TRUE(policy.requires_witness());
}

TEST(TrustPolicyTest, UrlsSpacesAndBytesPastAsciiAreKept) {
  const std::string text = "\t log  " + log_key(1) + "\thttps://log.example/ \nwitness w\xC3\xB6 " +
                           witness_key(2) + " https://w.example\n#\xFF\nquorum w\xC3\xB6\n";
  const TrustPolicy policy = parse_trust_policy(text).value();
  EXPECT_EQ(policy.logs[0].url, "https://log.example/");
  EXPECT_EQ(policy.witnesses[0].name, "w\xC3\xB6");
  EXPECT_EQ(policy.witnesses[0].url, "https://w.example");
}

TEST(TrustPolicyTest, WhatIsFormattedIsReadBack) {
  const TrustPolicy policy = parse_trust_policy(example_policy()).value();
  const std::string text = format_trust_policy(policy);
  EXPECT_EQ(format_trust_policy(parse_trust_policy(text).value()), text);
  EXPECT_NE(text.find("group X-and-Y 2 X-witnesses Y-witnesses\nquorum X-and-Y\n"),
            std::string::npos);
  const std::string small = "log " + log_key(1) + " https://l\nquorum none\n";
  EXPECT_EQ(format_trust_policy(parse_trust_policy(small).value()), small);
}

TEST(TrustPolicyTest, EverythingElseIsAnErrorThatNamesTheLine) {
  struct Row {
    std::string line;
    const char* why;
  };
  const Row rows[] = {
      {"root x " + log_key(1) + "\n", "a line of the other file"},
      {"log\n", "no key"},
      {"log " + log_key(1) + "\n", "the log of line 1 again"},
      {"log " + log_key(9) + " url more\n", "a word too much"},
      {"log " + witness_key(9) + "\n", "a witness key for a log"},
      {"witness w\n", "no key"},
      {"witness w " + log_key(9) + "\n", "a log key for a witness"},
      {"witness none " + witness_key(9) + "\n", "a reserved name"},
      {"witness A " + witness_key(9) + "\n", "a name that is taken"},
      {"witness G " + witness_key(9) + "\n", "a group's name"},
      {"witness w " + witness_key(2) + "\n", "the key of A again"},
      {"witness w " + witness_key(9) + " url more\n", "a word too much"},
      {"group g any\n", "no members"},
      {"group g A\n", "no threshold"},
      {"group g some C\n", "no such threshold"},
      {"group g 0 C\n", "threshold 0"},
      {"group g 2 C\n", "threshold past the members"},
      {"group g 01 C\n", "leading zero"},
      {"group none any C\n", "a reserved name"},
      {"group A any C\n", "a name that is taken"},
      {"group g any Z\n", "an unknown member"},
      {"group g any none\n", "none as a member"},
      {"group g any g\n", "itself as a member"},
      {"group g any C C\n", "one member twice"},
      {"group g any A\n", "a member of another group"},
      {"quorum Z\n", "an unknown quorum"},
      {"quorum\n", "no name"},
      {"quorum C more\n", "a word too much"},
      {"quorum C\x7F\n", "DEL"},
  };
  const std::string before = "log " + log_key(1) + "\n" + witness_line("A", 2) +
                             witness_line("B", 3) + witness_line("C", 4) + "group G any A B\n";
  ASSERT_TRUE(parse_trust_policy(before + "quorum C\n"));
  for (const Row& row : rows) {
    const schema::Result<TrustPolicy> result =
        parse_trust_policy(before + row.line + "quorum none\n");
    ASSERT_FALSE(result) << row.why;
    EXPECT_EQ(result.error().code(), ErrorCode::kMalformed) << row.why;
    EXPECT_EQ(result.error().message().substr(0, 8), "line 6: ") << result.error().message();
  }
}

TEST(TrustPolicyTest, ExactlyOneQuorumIsNeeded) {
  const std::string log = "log " + log_key(1) + "\n";
  EXPECT_TRUE(parse_trust_policy(log + "quorum none\n"));
  EXPECT_TRUE(parse_trust_policy("quorum none\n"));
  EXPECT_FALSE(parse_trust_policy(log));
  EXPECT_FALSE(parse_trust_policy(""));
  EXPECT_FALSE(parse_trust_policy("quorum none\nquorum none\n"));
  // Names must be defined before they are used.
  EXPECT_FALSE(parse_trust_policy("quorum w\n" + witness_line("w", 2)));
}

// --- check_quorum

constexpr const char* kText = "log.example/l\n1\nbjQLnP+zepicpUTmu3gKLHiQHT+zNzh2hRGjBhevoB0=\n";

NoteSignature cosign(std::uint8_t seed) {
  const std::uint8_t time = 77;
  const std::string message = "cosignature/v1\ntime 77\n" + std::string(kText);
  const crypto::SigningKey key = test::test_key(seed);
  const crypto::Signature signature = key.sign(schema::as_bytes(message)).value();
  const VerifierKey vkey = VerifierKey::parse(witness_key(seed)).value();
  schema::Bytes stamped(8 + signature.size());
  stamped[7] = time;
  std::copy(signature.begin(), signature.end(), stamped.begin() + 8);
  return {vkey.name(), vkey.note_key_id(), stamped};
}

Note note_cosigned_by(const std::vector<std::uint8_t>& seeds) {
  Note note;
  note.text = kText;
  note.signatures.push_back(sign_note(kText, "log.example/l", test::test_key(1)).value());
  for (const std::uint8_t seed : seeds) {
    note.signatures.push_back(cosign(seed));
  }
  return note;
}

TEST(QuorumTest, NestedGroupsCountAsTheFileSays) {
  const TrustPolicy policy = parse_trust_policy(example_policy()).value();
  const auto verdict = [&](const std::vector<std::uint8_t>& seeds) {
    return check_quorum(policy, note_cosigned_by(seeds)).met;
  };
  EXPECT_TRUE(verdict({11, 12, 21}));
  EXPECT_TRUE(verdict({13, 11, 23}));
  EXPECT_TRUE(verdict({11, 12, 13, 21, 22, 23}));
  EXPECT_FALSE(verdict({}));
  EXPECT_FALSE(verdict({11, 21}));
  EXPECT_FALSE(verdict({11, 12, 13}));
  EXPECT_FALSE(verdict({21, 22, 23}));
  EXPECT_FALSE(verdict({11, 11, 21}));  // one witness twice is one
  EXPECT_FALSE(verdict({31, 32, 33}));  // strangers
}

TEST(QuorumTest, ASingleWitnessOrNoneMayBeTheQuorum) {
  const TrustPolicy one = parse_trust_policy(witness_line("w", 5) + "quorum w\n").value();
  EXPECT_TRUE(check_quorum(one, note_cosigned_by({5})).met);
  EXPECT_FALSE(check_quorum(one, note_cosigned_by({6})).met);
  const TrustPolicy none = parse_trust_policy("quorum none\n").value();
  EXPECT_TRUE(check_quorum(none, note_cosigned_by({})).met);
}

// It takes nothing from the others: each cosignature is judged by itself.
TEST(QuorumTest, ABadCosignatureOfAKnownWitnessIsNamed) {
  const TrustPolicy policy = parse_trust_policy(example_policy()).value();
  Note note = note_cosigned_by({11, 12, 21, 22});
  note.signatures.back().signature.back() ^= 1;
  const QuorumVerdict fourth = check_quorum(policy, note);
  EXPECT_TRUE(fourth.met);
  EXPECT_EQ(fourth.bad.size(), 1U);
  note.signatures[3].signature.back() ^= 1;
  const QuorumVerdict third = check_quorum(policy, note);
  EXPECT_FALSE(third.met);
  EXPECT_EQ(third.bad.size(), 2U);
}

}  // namespace
}  // namespace aasm::ledger_format
