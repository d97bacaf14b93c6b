#include "aasm/ledger_format/keys.h"

#include <string>

#include <gtest/gtest.h>

#include "../crypto/vectors.h"

// tests/testdata/ledger_vectors has the bytes and signatures, made by another implementation.
namespace aasm::ledger_format {
namespace {

using crypto::Signature;
using schema::as_bytes;
using schema::JsonValue;

constexpr std::string_view kOrigin = "aasm.example/ledger/0123456789abcdef";

class KeysTest : public testing::Test {
 protected:
  const JsonValue vectors_ = test::ledger_vectors();
  const crypto::SigningKey root_ = test::test_key(2);
  const crypto::SigningKey host_ = test::test_key(3);
  const crypto::SigningKey new_ = test::test_key(4);

  std::string message(std::string_view name) const {
    return schema::to_hex(test::bytes_at(vectors_, {"key_statements", name, "message"}));
  }
  std::string signature(std::string_view name) const {
    return test::text_at(vectors_, {"key_statements", name, "signature"});
  }
};

std::string hex(std::string_view text) {
  return schema::to_hex(as_bytes(text));
}

TEST_F(KeysTest, KeyIdIsTheHashOfTheKey) {
  for (const char* name : {"log", "root", "host", "new"}) {
    EXPECT_EQ(key_id(test::public_key(test::text_at(vectors_, {"keys", name, "public"}))).hex(),
              test::text_at(vectors_, {"keys", name, "keyid"}));
  }
}

TEST_F(KeysTest, CertificatesHaveTheBytesAndSignaturesOfTheVectors) {
  const struct {
    KeyPurpose purpose;
    const char* name;
    crypto::SigningKey subject;
  } rows[] = {{KeyPurpose::kHost, "certificate_host", test::test_key(3)},
              {KeyPurpose::kLog, "certificate_log", test::test_key(1)}};
  for (const auto& row : rows) {
    const schema::PublicKey& subject = row.subject.public_key();
    EXPECT_EQ(hex(certificate_message(kOrigin, row.purpose, subject)), message(row.name));
    const Signature made = sign_certificate(root_, kOrigin, row.purpose, subject).value();
    EXPECT_EQ(schema::to_hex(made), signature(row.name));
    EXPECT_TRUE(verify_certificate(root_.public_key(), kOrigin, row.purpose, subject, made));
  }
}

TEST_F(KeysTest, ACertificateHoldsForNothingElse) {
  const schema::PublicKey& host = host_.public_key();
  const Signature good = sign_certificate(root_, kOrigin, KeyPurpose::kHost, host).value();
  const schema::PublicKey& root = root_.public_key();
  ASSERT_TRUE(verify_certificate(root, kOrigin, KeyPurpose::kHost, host, good));
  EXPECT_FALSE(verify_certificate(root, kOrigin, KeyPurpose::kLog, host, good));
  EXPECT_FALSE(verify_certificate(root, "aasm.example/ledger/0123456789abcdee", KeyPurpose::kHost,
                                  host, good));
  EXPECT_FALSE(verify_certificate(root, kOrigin, KeyPurpose::kHost, new_.public_key(), good));
  EXPECT_FALSE(verify_certificate(host, kOrigin, KeyPurpose::kHost, host, good));
  EXPECT_FALSE(verify_certificate(root, kOrigin, KeyPurpose::kHost, host, {}));
}

TEST_F(KeysTest, RotationHasTheBytesAndSignatureOfTheVectors) {
  const schema::PublicKey& old_key = host_.public_key();
  const schema::PublicKey& new_key = new_.public_key();
  EXPECT_EQ(hex(rotation_message(kOrigin, old_key, new_key)), message("rotation"));
  const Signature made = sign_rotation(new_, kOrigin, old_key).value();
  EXPECT_EQ(schema::to_hex(made), signature("rotation"));
  EXPECT_TRUE(verify_rotation(kOrigin, old_key, new_key, made));
  EXPECT_FALSE(verify_rotation(kOrigin, new_key, old_key, made));
  EXPECT_FALSE(verify_rotation(kOrigin, root_.public_key(), new_key, made));
  EXPECT_FALSE(verify_rotation("other.example/ledger/0123456789abcdef", old_key, new_key, made));
}

TEST_F(KeysTest, RevocationHasTheBytesAndSignatureOfTheVectors) {
  const schema::KeyId revoked = key_id(host_.public_key());
  EXPECT_EQ(hex(revocation_message(kOrigin, revoked, 4711)), message("revocation"));
  const Signature made = sign_revocation(root_, kOrigin, revoked, 4711).value();
  EXPECT_EQ(schema::to_hex(made), signature("revocation"));
  const schema::PublicKey& root = root_.public_key();
  EXPECT_TRUE(verify_revocation(root, kOrigin, revoked, 4711, made));
  EXPECT_FALSE(verify_revocation(root, kOrigin, revoked, 4712, made));
  EXPECT_FALSE(verify_revocation(root, kOrigin, key_id(root), 4711, made));
  EXPECT_FALSE(verify_revocation(host_.public_key(), kOrigin, revoked, 4711, made));
}

TEST_F(KeysTest, PurposeIsExactlyHostOrLog) {
  EXPECT_EQ(parse_key_purpose("host"), KeyPurpose::kHost);
  EXPECT_EQ(parse_key_purpose("log"), KeyPurpose::kLog);
  for (const char* text : {"", "Host", "host ", "logs", "run", "root"}) {
    EXPECT_FALSE(parse_key_purpose(text)) << text;
  }
}

}  // namespace
}  // namespace aasm::ledger_format
