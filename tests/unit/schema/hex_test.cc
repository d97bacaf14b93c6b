#include "aasm/schema/hex.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aasm/schema/digest.h"

namespace aasm::schema {
namespace {

TEST(HexTest, EveryByteValueSurvivesTheRoundTrip) {
  for (unsigned value = 0; value < 256; ++value) {
    const Bytes bytes = {static_cast<std::uint8_t>(value)};
    const auto decoded = from_hex(to_hex(bytes));
    ASSERT_TRUE(decoded.has_value()) << value;
    EXPECT_EQ(*decoded, bytes);
  }
}

TEST(HexTest, DigitsAreLowerCaseHighHalfFirst) {
  EXPECT_EQ(to_hex(Bytes{0x01, 0xAB, 0xF0}), "01abf0");
}

TEST(HexTest, EmptyTextIsNoBytes) {
  const auto decoded = from_hex("");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_TRUE(decoded->empty());
}

class HexRefuses : public ::testing::TestWithParam<std::string> {};

TEST_P(HexRefuses, AsMalformed) {
  const auto decoded = from_hex(GetParam());
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code(), ErrorCode::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(Spelling, HexRefuses,
                         ::testing::Values("0",                      // half a byte
                                           "0g",                     // no digit
                                           "AB",                     // upper case
                                           "0x12",                   // prefix
                                           " 0ab",                   // white space in front
                                           "ab\n0",                  // white space inside
                                           std::string("a\0bc", 4),  // NUL
                                           "\xC3\xA9"));             // not ASCII

TEST(Bytes32Test, TakesThirtyTwoBytesAndNoOtherNumber) {
  EXPECT_TRUE(Sha256::from_span(Bytes(32)).has_value());
  for (const std::size_t size : {0U, 31U, 33U, 64U}) {
    const auto value = Sha256::from_span(Bytes(size));
    ASSERT_FALSE(value.has_value()) << size;
    EXPECT_EQ(value.error().code(), ErrorCode::kMalformed);
  }
}

TEST(Bytes32Test, HexTextOfAValueGivesTheValueBack) {
  KeyId id;
  id.bytes[0] = 0xFE;
  id.bytes[31] = 0x01;
  const auto again = KeyId::from_hex_text(id.hex());
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, id);
}

}  // namespace
}  // namespace aasm::schema
