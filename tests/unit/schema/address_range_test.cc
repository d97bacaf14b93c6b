#include "aasm/schema/address_range.h"

#include <string>

#include <gtest/gtest.h>

namespace aasm::schema {
namespace {

AddressRange range(const char* address, int bits) {
  AddressRange made = parse_address(address).value();
  made.bits = bits;
  return made;
}

TEST(AddressRangeTest, AnAddressIsReadAsInetPtonReadsIt) {
  EXPECT_EQ(parse_address("10.0.0.1")->bits, 32);
  EXPECT_TRUE(parse_address("::1")->v6);
  for (const char* text :
       {"", "10.0.0", "010.0.0.1", "10.0.0.1 ", "1", "0x7f.0.0.1", "::g", "[::1]", "::1%lo"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
  EXPECT_FALSE(parse_address(std::string_view("10.0.0.1\0x", 10)));
}

TEST(AddressRangeTest, AMappedAddressIsWhatItMaps) {
  EXPECT_EQ(without_mapping(*parse_address("::ffff:10.0.0.1")), *parse_address("10.0.0.1"));
  EXPECT_EQ(without_mapping(range("::ffff:10.0.0.0", 104)), range("10.0.0.0", 8));
  EXPECT_TRUE(without_mapping(range("::ffff:0:0", 95)).v6) << "holds more than mapped addresses";
  EXPECT_TRUE(without_mapping(*parse_address("::10.0.0.1")).v6);
}

TEST(AddressRangeTest, ContainingIsDecidedBitByBit) {
  EXPECT_TRUE(range_contains(range("10.0.0.0", 8), *parse_address("10.255.0.1")));
  EXPECT_FALSE(range_contains(range("10.0.0.0", 8), *parse_address("11.0.0.1")));
  EXPECT_TRUE(range_contains(range("172.16.0.0", 12), *parse_address("172.31.255.255")));
  EXPECT_FALSE(range_contains(range("172.16.0.0", 12), *parse_address("172.32.0.0")));
  EXPECT_FALSE(range_contains(range("10.0.0.0", 9), range("10.0.0.0", 8)));
  EXPECT_TRUE(range_contains(range("0.0.0.0", 0), *parse_address("8.8.8.8")));
  EXPECT_FALSE(range_contains(range("0.0.0.0", 0), *parse_address("::1")));
  EXPECT_TRUE(range_contains(*parse_address("fd00::1"), *parse_address("fd00::1")));
  EXPECT_FALSE(range_contains(*parse_address("fd00::1"), *parse_address("fd00::2")));
}

TEST(AddressRangeTest, ADecimalIsPlain) {
  EXPECT_EQ(parse_plain_decimal("0", 8), 0);
  EXPECT_EQ(parse_plain_decimal("65535", 65535), 65535);
  for (const char* text : {"", "08", "+1", "-1", "9", "1x", " 1", "99999999999"}) {
    EXPECT_FALSE(parse_plain_decimal(text, 8)) << text;
  }
}

}  // namespace
}  // namespace aasm::schema
