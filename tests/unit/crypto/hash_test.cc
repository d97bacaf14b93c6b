#include "aasm/crypto/hash.h"

#include <array>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "aasm/crypto/constant_time.h"
#include "aasm/crypto/random.h"

#include "vectors.h"

namespace aasm::crypto {
namespace {

using schema::as_bytes;

TEST(Sha256Test, GivesTheAnswersOfFips180) {
  EXPECT_EQ(sha256({}).hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256(as_bytes("abc")).hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(as_bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")).hex(),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(as_bytes(std::string(1000000, 'a'))).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesGiveTheSameAsTheWholeForEverySplit) {
  std::string text;
  for (int i = 0; i < 150; ++i) {
    text += static_cast<char>('a' + i % 26);
  }
  const schema::Sha256 whole = sha256(as_bytes(text));
  for (std::size_t split = 0; split <= text.size(); ++split) {
    Sha256Hasher hasher;
    hasher.update(as_bytes(text).first(split)).update(as_bytes(text).subspan(split));
    EXPECT_EQ(hasher.finish(), whole) << "split at " << split;
    EXPECT_EQ(sha256_of({as_bytes(text).first(split), as_bytes(text).subspan(split)}), whole);
  }
}

TEST(Sha256Test, FinishStartsAnew) {
  Sha256Hasher hasher;
  hasher.update(as_bytes("something else"));
  EXPECT_NE(hasher.finish(), sha256(as_bytes("abc")));
  EXPECT_EQ(hasher.update(as_bytes("abc")).finish(), sha256(as_bytes("abc")));
}

TEST(Sha256Test, AMovedHasherCarriesItsStateAlong) {
  Sha256Hasher first;
  first.update(as_bytes("ab"));
  Sha256Hasher second = std::move(first);
  EXPECT_EQ(second.update(as_bytes("c")).finish(), sha256(as_bytes("abc")));
}

TEST(Sha256DeathTest, AMovedFromHasherAborts) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Sha256Hasher first;
  const Sha256Hasher second = std::move(first);
  EXPECT_DEATH(first.finish(), "");  // NOLINT(bugprone-use-after-move): that is the test.
}

TEST(RandomTest, FillsEveryLengthAndRepeatsNothing) {
  std::set<schema::Bytes> seen;
  for (std::size_t length : {0U, 1U, 16U, 32U, 255U, 256U, 257U, 100000U}) {
    schema::Bytes bytes(length, 0);
    ASSERT_TRUE(random_bytes(bytes));
    EXPECT_TRUE(seen.insert(bytes).second);
  }
  schema::Bytes large(4096, 0);
  ASSERT_TRUE(random_bytes(large));
  // All of 256 values are expected in 4096 bytes, but for one value in about nine million each.
  EXPECT_GT(std::set<std::uint8_t>(large.begin(), large.end()).size(), 240U);
}

TEST(ConstantTimeTest, EqualMeansSameLengthAndBytes) {
  const schema::Bytes left = {1, 2, 3, 4};
  EXPECT_TRUE(equal_constant_time(left, schema::Bytes{1, 2, 3, 4}));
  EXPECT_TRUE(equal_constant_time({}, {}));
  EXPECT_FALSE(equal_constant_time(left, schema::Bytes{1, 2, 3}));
  EXPECT_FALSE(equal_constant_time(left, {}));
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      schema::Bytes other = left;
      other[i] = static_cast<std::uint8_t>(other[i] ^ (1U << bit));
      EXPECT_FALSE(equal_constant_time(left, other));
    }
  }
}

}  // namespace
}  // namespace aasm::crypto
