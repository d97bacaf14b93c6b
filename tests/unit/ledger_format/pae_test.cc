#include "aasm/ledger_format/pae.h"

#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"

#include "../crypto/vectors.h"

namespace aasm::ledger_format {
namespace {

using schema::as_bytes;
using schema::as_text;

TEST(PaeTest, GivesTheExampleOfTheDsseProtocol) {
  EXPECT_EQ(as_text(dsse_pae("http://example.com/HelloWorld", as_bytes("hello world"))),
            "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

// Case L32.
TEST(PaeTest, CountsBytesAndTakesThemAsTheyAre) {
  EXPECT_EQ(as_text(dsse_pae("", {})), "DSSEv1 0  0 ");
  // Two characters, three bytes; and a payload that looks like a header.
  EXPECT_EQ(as_text(dsse_pae("\xC3\xA9x", as_bytes("DSSEv1 1 "))),
            "DSSEv1 3 \xC3\xA9x 9 DSSEv1 1 ");
}

TEST(PaeTest, ARecordOfTheGreatestSizeFitsAnEntryBundle) {
  const schema::Bytes payload(schema::kPayloadMaxBytes, 'x');
  const schema::Bytes encoded = pae(payload);
  EXPECT_LE(encoded.size(), kPaeMaxBytes);
  EXPECT_EQ(as_text(encoded).substr(0, 46), "DSSEv1 28 application/vnd.in-toto+json 65000 x");
}

TEST(PaeDeathTest, APayloadPastTheLimitAborts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const schema::Bytes payload(schema::kPayloadMaxBytes + 1, 'x');
  EXPECT_DEATH(pae(payload), "");
}

TEST(LeafTest, GivesTheLeavesOfTheSpecification) {
  const schema::JsonValue vectors = test::ledger_vectors();
  const auto& payloads = *test::at(vectors, {"section11", "payloads"}).as_array();
  const auto& leaves = *test::at(vectors, {"section11", "leaves"}).as_array();
  ASSERT_EQ(payloads.size(), 3U);
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_EQ(leaf_hash(pae(as_bytes(*payloads[i].as_string()))).hex(), *leaves[i].as_string());
  }
  // The number that docs/spec/ledger-format.md section 11 prints, so that a changed file shows.
  EXPECT_EQ(*leaves[0].as_string(),
            "f963b11e06440dca6e45a25e3134620a626bcace8999ca586af8e001577b7a3f");
}

TEST(LeafTest, GenesisPrevBelongsToTheOrigin) {
  const schema::JsonValue vectors = test::ledger_vectors();
  const std::string origin = test::text_at(vectors, {"statements", "origin"});
  EXPECT_EQ(genesis_prev(origin).hex(), test::text_at(vectors, {"statements", "genesis"}));
  EXPECT_NE(genesis_prev(origin), genesis_prev(origin + "0"));
}

}  // namespace
}  // namespace aasm::ledger_format
