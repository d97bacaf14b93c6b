#include "aasm/schema/time.h"

#include <ctime>
#include <limits>
#include <ostream>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace aasm::schema {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

struct Instant {
  std::int64_t unix_ns;
  const char* text;
};

void PrintTo(const Instant& row, std::ostream* out) {
  *out << row.text;
}

// Seconds from `date -u -d ... +%s`.
class WallTime : public ::testing::TestWithParam<Instant> {};

TEST_P(WallTime, FormatsAndParsesToEachOther) {
  EXPECT_EQ(format_wall(GetParam().unix_ns), GetParam().text);
  const auto parsed = parse_wall(GetParam().text);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message();
  EXPECT_EQ(*parsed, GetParam().unix_ns);
}

INSTANTIATE_TEST_SUITE_P(
    Edges, WallTime,
    ::testing::Values(Instant{0, "1970-01-01T00:00:00.000000000Z"},
                      Instant{1, "1970-01-01T00:00:00.000000001Z"},
                      Instant{86400 * kSecond - 1, "1970-01-01T23:59:59.999999999Z"},
                      Instant{951782400 * kSecond, "2000-02-29T00:00:00.000000000Z"},
                      Instant{951868800 * kSecond, "2000-03-01T00:00:00.000000000Z"},
                      Instant{1709164800 * kSecond, "2024-02-29T00:00:00.000000000Z"},
                      Instant{1735689599 * kSecond + 5, "2024-12-31T23:59:59.000000005Z"},
                      Instant{1767323045 * kSecond + 123456789, "2026-01-02T03:04:05.123456789Z"},
                      Instant{4107542399 * kSecond, "2100-02-28T23:59:59.000000000Z"},
                      Instant{4107542400 * kSecond, "2100-03-01T00:00:00.000000000Z"},
                      Instant{std::numeric_limits<std::int64_t>::max(),
                              "2262-04-11T23:47:16.854775807Z"}));

TEST(WallTimeTest, AgreesWithTheCLibraryOnRandomInstants) {
  std::mt19937_64 random(17);
  std::uniform_int_distribution<std::int64_t> instants(0, std::numeric_limits<std::int64_t>::max());
  for (int i = 0; i < 20000; ++i) {
    const std::int64_t unix_ns = instants(random);
    const std::time_t seconds = unix_ns / kSecond;
    std::tm parts{};
    ASSERT_NE(gmtime_r(&seconds, &parts), nullptr);
    char expected[32];
    ASSERT_EQ(std::strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S", &parts), 19U);
    const std::string text = format_wall(unix_ns);
    ASSERT_EQ(text.substr(0, 19), expected);
    const auto parsed = parse_wall(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    ASSERT_EQ(*parsed, unix_ns);
  }
}

TEST(WallTimeDeathTest, FormattingATimeBefore1970Aborts) {
  EXPECT_DEATH(static_cast<void>(format_wall(-1)), "");
}

struct BadTime {
  const char* name;
  std::string text;
};

void PrintTo(const BadTime& row, std::ostream* out) {
  *out << row.name;
}

class WallTimeRefuses : public ::testing::TestWithParam<BadTime> {};

TEST_P(WallTimeRefuses, AsMalformed) {
  const auto parsed = parse_wall(GetParam().text);
  ASSERT_FALSE(parsed.has_value());
  EXPECT_EQ(parsed.error().code(), ErrorCode::kMalformed);
}

INSTANTIATE_TEST_SUITE_P(
    Spelling, WallTimeRefuses,
    ::testing::Values(BadTime{"Empty", ""},                                          //
                      BadTime{"NoFraction", "2026-01-02T03:04:05Z"},                 //
                      BadTime{"EightDigits", "2026-01-02T03:04:05.12345678Z"},       //
                      BadTime{"TenDigits", "2026-01-02T03:04:05.1234567890Z"},       //
                      BadTime{"NoZone", "2026-01-02T03:04:05.123456789"},            //
                      BadTime{"OffsetZone", "2026-01-02T03:04:05.123456789+00:00"},  //
                      BadTime{"LowerCaseZone", "2026-01-02T03:04:05.123456789z"},    //
                      BadTime{"LowerCaseT", "2026-01-02t03:04:05.123456789Z"},       //
                      BadTime{"SpaceForT", "2026-01-02 03:04:05.123456789Z"},        //
                      BadTime{"CommaFraction", "2026-01-02T03:04:05,123456789Z"},    //
                      BadTime{"SpaceBehind", "2026-01-02T03:04:05.123456789Z "},     //
                      BadTime{"SignInFront", "+026-01-02T03:04:05.123456789Z"},      //
                      BadTime{"SpaceForDigit", "2026-01- 2T03:04:05.123456789Z"},    //
                      BadTime{"FiveDigitYear", "12026-01-02T03:04:05.12345678Z"},    //
                      BadTime{"NulByte", std::string("2026-01-02T03:04:05.12345678\0Z", 30)}),
    [](const auto& row) { return std::string(row.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Calendar, WallTimeRefuses,
    ::testing::Values(BadTime{"MonthZero", "2026-00-02T03:04:05.123456789Z"},      //
                      BadTime{"MonthThirteen", "2026-13-02T03:04:05.123456789Z"},  //
                      BadTime{"DayZero", "2026-01-00T03:04:05.123456789Z"},        //
                      BadTime{"Day32", "2026-01-32T03:04:05.123456789Z"},          //
                      BadTime{"April31", "2026-04-31T03:04:05.123456789Z"},        //
                      BadTime{"LeapDay2026", "2026-02-29T03:04:05.123456789Z"},    //
                      BadTime{"LeapDay2100", "2100-02-29T03:04:05.123456789Z"},    //
                      BadTime{"February30", "2024-02-30T03:04:05.123456789Z"},     //
                      BadTime{"Hour24", "2026-01-02T24:00:00.000000000Z"},         //
                      BadTime{"Minute60", "2026-01-02T03:60:05.123456789Z"},       //
                      BadTime{"LeapSecond", "2016-12-31T23:59:60.000000000Z"},     //
                      BadTime{"Before1970", "1969-12-31T23:59:59.999999999Z"},     //
                      BadTime{"YearZero", "0000-01-01T00:00:00.000000000Z"},       //
                      BadTime{"PastTheRange", "2262-04-11T23:47:16.854775808Z"},   //
                      BadTime{"SecondPastTheRange", "2262-04-11T23:47:17.000000000Z"},
                      BadTime{"Year9999", "9999-12-31T23:59:59.999999999Z"}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace aasm::schema
