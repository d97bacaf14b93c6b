#include "aasm/schema/uuid.h"

#include <array>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace aasm::schema {
namespace {

TEST(RunIdTest, MakesTheVersionSevenExampleOfRfc9562) {
  // Appendix A.6; the version and variant bits of the input are overwritten.
  const std::array<std::uint8_t, 10> random = {0x0C, 0xC3, 0x18, 0xC4, 0xDC,
                                               0x0C, 0x0C, 0x07, 0x39, 0x8F};
  EXPECT_EQ(RunId::make(0x017F22E279B0, random).text(), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

TEST(RunIdTest, WhatIsMadeParses) {
  for (const unsigned fill : {0x00U, 0x5AU, 0xA5U, 0xFFU}) {
    std::array<std::uint8_t, 10> random{};
    random.fill(static_cast<std::uint8_t>(fill));
    const RunId id = RunId::make(1767323045123, random);
    const auto parsed = RunId::parse(id.text());
    ASSERT_TRUE(parsed.has_value()) << id.text();
    EXPECT_EQ(*parsed, id);
  }
}

TEST(RunIdTest, UsesOnlyTheLow48BitsOfTheTime) {
  const std::array<std::uint8_t, 10> random{};
  EXPECT_EQ(RunId::make(0xFFFF'0000'0000'0001U, random), RunId::make(1, random));
}

TEST(RunIdTest, LaterMillisecondSortsAfter) {
  std::array<std::uint8_t, 10> high{};
  high.fill(0xFF);
  EXPECT_LT(RunId::make(1000, high), RunId::make(1001, std::array<std::uint8_t, 10>{}));
}

TEST(RunIdTest, OnlyTheDefaultOneIsEmpty) {
  EXPECT_TRUE(RunId().empty());
  EXPECT_FALSE(RunId::make(0, std::array<std::uint8_t, 10>{}).empty());
}

TEST(Uuid4Test, MakesTheVersionFourExampleOfRfc9562) {
  // Appendix A.3, with the version and variant bits flipped in the input.
  const std::array<std::uint8_t, 16> random = {0x91, 0x91, 0x08, 0xF7, 0x52, 0xD1, 0xB3, 0x20,
                                               0x5B, 0xAC, 0xF8, 0x47, 0xDB, 0x41, 0x48, 0xA8};
  EXPECT_EQ(make_uuid4(random), "919108f7-52d1-4320-9bac-f847db4148a8");
}

TEST(Uuid4Test, IsNoRunId) {
  EXPECT_FALSE(RunId::parse(make_uuid4(std::array<std::uint8_t, 16>{})).has_value());
}

struct BadUuid {
  const char* name;
  std::string text;
};

void PrintTo(const BadUuid& row, std::ostream* out) {
  *out << row.name;
}

class RunIdRefuses : public ::testing::TestWithParam<BadUuid> {};

TEST_P(RunIdRefuses, AsMalformed) {
  const auto parsed = RunId::parse(GetParam().text);
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code(), ErrorCode::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(
    Spelling, RunIdRefuses,
    ::testing::Values(BadUuid{"Empty", ""},                                                   //
                      BadUuid{"UpperCase", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"},           //
                      BadUuid{"OneUpperCaseDigit", "017f22e2-79b0-7cc3-98c4-dc0c0c07398F"},   //
                      BadUuid{"Braces", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}"},            //
                      BadUuid{"UrnPrefix", "urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f"},  //
                      BadUuid{"NoDashes", "017f22e279b07cc398c4dc0c0c07398f"},                //
                      BadUuid{"DashMoved", "017f22e27-9b0-7cc3-98c4-dc0c0c07398f"},           //
                      BadUuid{"DigitShort", "017f22e2-79b0-7cc3-98c4-dc0c0c07398"},           //
                      BadUuid{"DigitLong", "017f22e2-79b0-7cc3-98c4-dc0c0c07398ff"},          //
                      BadUuid{"NoDigit", "017f22e2-79b0-7cc3-98c4-dc0c0c07398g"},             //
                      BadUuid{"SpaceBehind", "017f22e2-79b0-7cc3-98c4-dc0c0c07398 "},         //
                      BadUuid{"NulByte", std::string("017f22e2-79b0-7cc3-98c4-dc0c0c07398\0", 36)},
                      BadUuid{"VersionFour", "017f22e2-79b0-4cc3-98c4-dc0c0c07398f"},       //
                      BadUuid{"VersionEight", "017f22e2-79b0-8cc3-98c4-dc0c0c07398f"},      //
                      BadUuid{"VariantNcs", "017f22e2-79b0-7cc3-78c4-dc0c0c07398f"},        //
                      BadUuid{"VariantMicrosoft", "017f22e2-79b0-7cc3-c8c4-dc0c0c07398f"},  //
                      BadUuid{"Nil", "00000000-0000-0000-0000-000000000000"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace aasm::schema
