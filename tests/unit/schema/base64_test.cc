#include "aasm/schema/base64.h"

#include <ostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/digest.h"

namespace aasm::schema {
namespace {

// RFC 4648 section 10.
struct Vector {
  std::string plain;
  std::string encoded;
};

void PrintTo(const Vector& row, std::ostream* out) {
  *out << row.plain;
}

class Base64Vector : public ::testing::TestWithParam<Vector> {};

TEST_P(Base64Vector, HoldsBothWays) {
  EXPECT_EQ(to_base64(as_bytes(GetParam().plain)), GetParam().encoded);
  const auto decoded = from_base64(GetParam().encoded);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message();
  EXPECT_EQ(as_text(*decoded), GetParam().plain);
}

INSTANTIATE_TEST_SUITE_P(Rfc4648, Base64Vector,
                         ::testing::Values(Vector{"", ""}, Vector{"f", "Zg=="},
                                           Vector{"fo", "Zm8="}, Vector{"foo", "Zm9v"},
                                           Vector{"foob", "Zm9vYg=="}, Vector{"fooba", "Zm9vYmE="},
                                           Vector{"foobar", "Zm9vYmFy"}));

TEST(Base64Test, UsesPlusAndSlashForTheLastTwoDigits) {
  EXPECT_EQ(to_base64(Bytes{0xFB, 0xEF, 0xBE}), "++++");
  EXPECT_EQ(to_base64(Bytes{0xFF, 0xFF, 0xFF}), "////");
}

TEST(Base64Test, RandomBytesOfEveryShortLengthSurviveTheRoundTrip) {
  std::mt19937 random(20260102);
  for (std::size_t size = 0; size < 100; ++size) {
    Bytes bytes(size);
    for (auto& byte : bytes) {
      byte = static_cast<std::uint8_t>(random());
    }
    const auto decoded = from_base64(to_base64(bytes));
    ASSERT_TRUE(decoded.has_value()) << size;
    EXPECT_EQ(*decoded, bytes);
  }
}

// Whatever four characters are accepted, they are the spelling that the encoder gives.
TEST(Base64Test, EveryAcceptedFinalGroupIsTheOneTheEncoderWrites) {
  std::string alphabet = "=\n-_";
  for (unsigned c = 0x20; c < 0x7F; ++c) {
    alphabet += static_cast<char>(c);
  }
  std::size_t num_accepted = 0;
  for (const char second : alphabet) {
    for (const char third : alphabet) {
      for (const char fourth : alphabet) {
        const std::string text = {'Q', second, third, fourth};
        const auto decoded = from_base64(text);
        if (decoded.has_value()) {
          ++num_accepted;
          ASSERT_EQ(to_base64(*decoded), text);
        }
      }
    }
  }
  // With Q fixed: 64^3 of three bytes, 64 * 16 of two, 4 of one; '=' '-' '_' are in twice.
  EXPECT_GE(num_accepted, 64U * 64U * 64U + 64U * 16U + 4U);
}

class Base64Refuses : public ::testing::TestWithParam<std::string> {};

TEST_P(Base64Refuses, AsMalformed) {
  const auto decoded = from_base64(GetParam());
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code(), ErrorCode::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(Spelling, Base64Refuses,
                         ::testing::Values("Zg",                       // padding left out
                                           "Zg=",                      // padding cut
                                           "Zh==",                     // four unused bits not zero
                                           "Zm9=",                     // two unused bits not zero
                                           "====",                     // padding only
                                           "Z===",                     // three of padding
                                           "=m9v",                     // padding in front
                                           "Zg==Zg==",                 // padding inside
                                           "Zm=v",                     // padding before a digit
                                           "Zm9vZg==\n",               // white space behind
                                           "Zm9v\nZg=",                // white space inside
                                           " Zm9",                     // white space in front
                                           "-_-_",                     // the URL alphabet
                                           "Zm9\xC3",                  // not ASCII
                                           std::string("Zm9\0", 4)));  // NUL

}  // namespace
}  // namespace aasm::schema
