#include "aasm/crypto/ed25519.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "vectors.h"

namespace aasm::crypto {
namespace {

using schema::as_bytes;
using schema::Bytes;
using schema::JsonValue;
using schema::PublicKey;
using test::unhex;

struct KnownAnswer {
  const char* seed;
  const char* public_key;
  const char* message;
  const char* signature;
};

// RFC 8032 section 7.1, tests 1 to 3.
constexpr KnownAnswer kRfc8032[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b"
     "4"
     "6bd25bf5f0595bbe24655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11"
     "d"
     "8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc"
     "6"
     "594a7c15e9716ed28dc027beceea1ec40a"},
};

SigningKey key_of(const Bytes& seed) {
  return SigningKey::from_seed(std::span<const std::uint8_t, 32>(seed.data(), 32)).value();
}

TEST(Ed25519Test, GivesTheAnswersOfRfc8032) {
  for (const KnownAnswer& row : kRfc8032) {
    const SigningKey key = key_of(unhex(row.seed));
    EXPECT_EQ(key.public_key().hex(), row.public_key);
    const Bytes message = unhex(row.message);
    const Signature signature = key.sign(message).value();
    EXPECT_EQ(schema::to_hex(signature), row.signature);
    EXPECT_TRUE(verify(key.public_key(), message, signature));
  }
}

TEST(Ed25519Test, AgreesWithTheSecondImplementation) {
  const JsonValue vectors = test::ledger_vectors();
  for (const char* name : {"log", "root", "host", "new", "witness"}) {
    const SigningKey key = key_of(test::bytes_at(vectors, {"keys", name, "seed"}));
    EXPECT_EQ(key.public_key().hex(), test::text_at(vectors, {"keys", name, "public"}));
  }
}

TEST(Ed25519Test, AnyChangedBitIsRefused) {
  const SigningKey key = test::test_key(1);
  const Bytes message = {'a', 'b', 'c'};
  const Signature good = key.sign(message).value();
  ASSERT_TRUE(verify(key.public_key(), message, good));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Signature changed = good;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1U << bit % 8));
    EXPECT_FALSE(verify(key.public_key(), message, changed)) << "signature bit " << bit;
  }
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    Bytes changed = message;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1U << bit % 8));
    EXPECT_FALSE(verify(key.public_key(), changed, good)) << "message bit " << bit;
  }
  for (std::size_t bit = 0; bit < 256; ++bit) {
    PublicKey changed = key.public_key();
    changed.bytes[bit / 8] = static_cast<std::uint8_t>(changed.bytes[bit / 8] ^ (1U << bit % 8));
    EXPECT_FALSE(verify(changed, message, good)) << "key bit " << bit;
  }
}

TEST(Ed25519Test, EveryOtherLengthIsRefused) {
  const SigningKey key = test::test_key(1);
  const Signature good = key.sign({}).value();
  Bytes longer(good.begin(), good.end());
  longer.push_back(0);
  EXPECT_FALSE(verify(key.public_key(), {}, longer));
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_FALSE(verify(key.public_key(), {}, schema::ByteView(good).first(length))) << length;
  }
}

TEST(Ed25519Test, SignaturesThatOnlySatisfyTheEquationAreRefused) {
  const JsonValue vectors = test::ledger_vectors();
  const JsonValue& forgeries = test::at(vectors, {"forgeries"});
  const Bytes message = test::bytes_at(forgeries, {"message"});
  ASSERT_TRUE(verify(test::public_key(test::text_at(forgeries, {"public"})), message,
                     test::bytes_at(forgeries, {"good"})));
  const JsonValue::Array& rows = *test::at(forgeries, {"rows"}).as_array();
  ASSERT_EQ(rows.size(), 5U);
  for (const JsonValue& row : rows) {
    EXPECT_FALSE(verify(test::public_key(test::text_at(row, {"public"})), message,
                        test::bytes_at(row, {"signature"})))
        << test::text_at(row, {"why"});
  }
}

TEST(Ed25519Test, SmallOrderAndNoncanonicalKeysAreNotAcceptable) {
  const JsonValue vectors = test::ledger_vectors();
  const JsonValue::Array& small = *test::at(vectors, {"small_order"}).as_array();
  ASSERT_EQ(small.size(), 8U);
  for (const JsonValue& key : small) {
    EXPECT_FALSE(is_acceptable_public_key(test::public_key(*key.as_string()))) << *key.as_string();
  }
  const JsonValue::Array& spellings = *test::at(vectors, {"noncanonical"}).as_array();
  ASSERT_GT(spellings.size(), 10U);
  for (const JsonValue& key : spellings) {
    EXPECT_FALSE(is_acceptable_public_key(test::public_key(*key.as_string()))) << *key.as_string();
  }
  for (const KnownAnswer& row : kRfc8032) {
    EXPECT_TRUE(is_acceptable_public_key(test::public_key(row.public_key)));
  }
}

TEST(Ed25519Test, BytesThatAreNoPointAreRefusedByVerify) {
  PublicKey key;
  key.bytes[0] = 2;  // y = 2 belongs to no point of the curve
  EXPECT_TRUE(is_acceptable_public_key(key));
  EXPECT_FALSE(verify(key, {}, Signature{}));
  EXPECT_FALSE(verify(key, {}, test::test_key(1).sign({}).value()));
}

TEST(Ed25519Test, GeneratedKeysDifferAndSign) {
  const SigningKey first = SigningKey::generate().value();
  const SigningKey second = SigningKey::generate().value();
  EXPECT_NE(first.public_key(), second.public_key());
  const Signature signature = first.sign(as_bytes("x")).value();
  EXPECT_TRUE(verify(first.public_key(), as_bytes("x"), signature));
  EXPECT_FALSE(verify(second.public_key(), as_bytes("x"), signature));
  EXPECT_EQ(key_of(Bytes(first.seed().begin(), first.seed().end())).public_key(),
            first.public_key());
}

TEST(Ed25519Test, OneKeyMaySignAndVerifyOnManyThreads) {
  const SigningKey key = test::test_key(7);
  std::vector<int> good(4, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < good.size(); ++t) {
    threads.emplace_back([&key, &good, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string message = std::to_string(t) + "/" + std::to_string(i);
        const schema::Result<Signature> signature = key.sign(as_bytes(message));
        good[t] += signature && verify(key.public_key(), as_bytes(message), *signature) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good, std::vector<int>(4, 50));
}

}  // namespace
}  // namespace aasm::crypto
