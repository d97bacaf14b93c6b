#include "aasm/ledger_format/dsse.h"

#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "../crypto/vectors.h"

namespace aasm::ledger_format {
namespace {

DsseEnvelope sample() {
  DsseEnvelope envelope;
  envelope.payload = "{\"a\":1}";
  envelope.key.bytes.fill(0xab);
  envelope.signature.fill(0x01);
  return envelope;
}

std::string sample_json() {
  return schema::json_write(dsse_to_json(sample()));
}

schema::Result<DsseEnvelope> parse(const std::string& text) {
  return dsse_from_json(schema::json_parse(text).value());
}

TEST(DsseTest, HasTheJsonFormOfDsse) {
  std::string key_id;
  std::string signature;
  for (int i = 0; i < 32; ++i) {
    key_id += "ab";
  }
  for (int i = 0; i < 21; ++i) {
    signature += "AQEB";
  }
  EXPECT_EQ(sample_json(),
            R"({"payload":"eyJhIjoxfQ==","payloadType":"application/vnd.in-toto+json",)"
            R"("signatures":[{"keyid":")" +
                key_id + R"(","sig":")" + signature + R"(AQ=="}]})");
}

TEST(DsseTest, RoundTripsAnyBytes) {
  DsseEnvelope envelope = sample();
  EXPECT_EQ(dsse_from_json(dsse_to_json(envelope)).value(), envelope);
  envelope.payload = std::string("\x00\xFF\x80", 3);
  EXPECT_EQ(dsse_from_json(dsse_to_json(envelope)).value(), envelope);
  envelope.payload = "";
  EXPECT_EQ(dsse_from_json(dsse_to_json(envelope)).value(), envelope);
}

TEST(DsseTest, EveryOtherFormIsRefused) {
  struct Row {
    std::string from;
    std::string to;
  };
  const Row rows[] = {
      {R"("payload":)", R"("extra":1,"payload":)"},
      {R"("payload":"eyJhIjoxfQ==",)", ""},
      {"eyJhIjoxfQ==", "eyJhIjoxfQ"},
      {"eyJhIjoxfQ==", "eyJhIjoxfR=="},
      {R"("eyJhIjoxfQ==")", "1"},
      {"vnd.in-toto+json", "json"},
      {R"("application/vnd.in-toto+json")", "1"},
      {R"("signatures":[)", R"("signatures":[{"keyid":"","sig":""},)"},
      {R"("keyid":"ab)", R"("keyid":"AB)"},
      {R"("keyid":"ab)", R"("keyid":")"},
      {R"("keyid":")", R"("cert":"","keyid":")"},
      {R"("sig":"AQEB)", R"("sig":")"},
      {R"("sig":"AQEB)", R"("sig":"AQEBAQEB)"},
      {R"("sig":"AQEB)", R"("sig":"AQE_)"},
      {R"("sig":)", R"("sign":)"},
  };
  ASSERT_TRUE(parse(sample_json()));
  for (const Row& row : rows) {
    std::string text = sample_json();
    const std::size_t found = text.find(row.from);
    ASSERT_NE(found, std::string::npos) << row.from;
    text.replace(found, row.from.size(), row.to);
    const schema::Result<DsseEnvelope> result = parse(text);
    ASSERT_FALSE(result) << row.from << " -> " << row.to;
    EXPECT_EQ(result.error().code(), schema::ErrorCode::kMalformed);
  }
  EXPECT_FALSE(parse("[]"));
  EXPECT_FALSE(
      parse(R"({"payload":"","payloadType":"application/vnd.in-toto+json","signatures":[]})"));
  EXPECT_FALSE(
      parse(R"({"payload":"","payloadType":"application/vnd.in-toto+json","signatures":{}})"));
}

TEST(DsseTest, ASecondGoodSignatureIsRefused) {
  std::string text = sample_json();
  const std::size_t begin = text.find("[{") + 1;
  const std::string signature = text.substr(begin, text.find("}]") + 1 - begin);
  text.insert(begin, signature + ",");
  EXPECT_FALSE(parse(text));
}

TEST(DsseTest, APayloadPastTheLimitIsRefused) {
  DsseEnvelope envelope = sample();
  envelope.payload.assign(schema::kPayloadMaxBytes, 'x');
  EXPECT_TRUE(dsse_from_json(dsse_to_json(envelope)));
  envelope.payload += 'x';
  EXPECT_FALSE(dsse_from_json(dsse_to_json(envelope)));
}

}  // namespace
}  // namespace aasm::ledger_format
