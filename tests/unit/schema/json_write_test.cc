#include "aasm/schema/json_write.h"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"

namespace aasm::schema {
namespace {

// The values of RFC 8785 section 3.2.2 that the profile admits: its numbers are real.
TEST(JsonWriteTest, WritesTheSampleOfRfc8785WithoutItsNumbers) {
  const auto value = json_parse(R"({
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  })");
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(json_write(*value),
            "{\"literals\":[null,true,false],"
            "\"string\":\"\xE2\x82\xAC$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

// RFC 8785 section 3.2.3 with its keys turned into values, which stay in their order.
TEST(JsonWriteTest, WritesTheValuesOfTheSortingExampleAsTheyAre) {
  const auto value = json_parse(R"(["\u20ac","\r","\ufb33","1","\ud83d\ude00","\u0080","\u00f6"])");
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(json_write(*value),
            "[\"\xE2\x82\xAC\",\"\\r\",\"\xEF\xAC\xB3\",\"1\",\"\xF0\x9F\x98\x80\",\"\xC2\x80\","
            "\"\xC3\xB6\"]");
}

struct Written {
  const char* name;
  std::string plain;
  std::string text;
};

void PrintTo(const Written& row, std::ostream* out) {
  *out << row.name;
}

class JsonWriteString : public ::testing::TestWithParam<Written> {};

TEST_P(JsonWriteString, EscapesWhatRfc8785SaysAndNothingElse) {
  EXPECT_EQ(json_write(GetParam().plain), '"' + GetParam().text + '"');
}

INSTANTIATE_TEST_SUITE_P(
    Rows, JsonWriteString,
    ::testing::Values(Written{"Empty", "", ""},                         //
                      Written{"Nul", std::string(1, '\0'), "\\u0000"},  //
                      Written{"Backspace", "\b", "\\b"},                //
                      Written{"Tab", "\t", "\\t"},                      //
                      Written{"LineFeed", "\n", "\\n"},                 //
                      Written{"VerticalTab", "\v", "\\u000b"},          //
                      Written{"FormFeed", "\f", "\\f"},                 //
                      Written{"CarriageReturn", "\r", "\\r"},           //
                      Written{"LastC0", "\x1f", "\\u001f"},             //
                      Written{"Space", " ", " "},                       //
                      Written{"Quote", "\"", "\\\""},                   //
                      Written{"Backslash", "\\", "\\\\"},               //
                      Written{"SlashStays", "</script>", "</script>"},  //
                      Written{"DeleteStays", "\x7f", "\x7f"},           //
                      Written{"C1Stays", "\xC2\x85", "\xC2\x85"},       //
                      Written{"LineSeparatorStays", "\xE2\x80\xA8", "\xE2\x80\xA8"},
                      Written{"NonBmpStays", "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
                      Written{"NonCharacterStays", "\xEF\xBF\xBF", "\xEF\xBF\xBF"},
                      Written{"RunsBetweenEscapes", "a\"b\nc", "a\\\"b\\nc"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(JsonWriteTest, IntegersAreWrittenInFull) {
  EXPECT_EQ(json_write(std::int64_t{0}), "0");
  EXPECT_EQ(json_write(std::int64_t{-1}), "-1");
  EXPECT_EQ(json_write(kJsonMaxInteger), "9007199254740991");
  EXPECT_EQ(json_write(-kJsonMaxInteger), "-9007199254740991");
}

TEST(JsonWriteTest, MembersAreSortedByKeyBytes) {
  const JsonValue value = JsonValue::Object{
      {"b", JsonValue()},  {"a.b", JsonValue()}, {"a", JsonValue()}, {"Z", JsonValue()},
      {"aa", JsonValue()}, {"10", JsonValue()},  {"9", JsonValue()}, {"_", JsonValue()}};
  EXPECT_EQ(json_write(value),
            R"({"10":null,"9":null,"Z":null,"_":null,"a":null,"a.b":null,"aa":null,"b":null})");
}

TEST(JsonWriteTest, MembersOfNestedObjectsAreSortedToo) {
  const JsonValue value = JsonValue::Array{
      JsonValue::Object{{"y", JsonValue::Object{{"d", true}, {"c", false}}}, {"x", JsonValue()}}};
  EXPECT_EQ(json_write(value), R"([{"x":null,"y":{"c":false,"d":true}}])");
}

TEST(JsonWriteTest, EmptyContainersHaveNothingInside) {
  EXPECT_EQ(json_write(JsonValue::Object{}), "{}");
  EXPECT_EQ(json_write(JsonValue::Array{JsonValue::Array{}, JsonValue::Object{}}), "[[],{}]");
}

TEST(JsonWriteDeathTest, AStringThatIsNotUtf8Aborts) {
  EXPECT_DEATH(static_cast<void>(json_write("\xFF")), "");
  // A sequence cut at the end of one string must not be mended by the next.
  EXPECT_DEATH(static_cast<void>(json_write(JsonValue::Array{"\xE2\x82", "\xAC"})), "");
  EXPECT_DEATH(static_cast<void>(json_write(JsonValue::Object{{"\xC3", JsonValue()}})), "");
}

TEST(JsonCanonicalTest, TheWrittenTextIsCanonical) {
  const auto value = json_parse(R"({"a":[1,"x"],"b":{}})");
  ASSERT_TRUE(value.has_value());
  EXPECT_TRUE(json_is_canonical(R"({"a":[1,"x"],"b":{}})", *value));
}

class NotCanonical : public ::testing::TestWithParam<const char*> {};

TEST_P(NotCanonical, ThoughItParses) {
  const auto value = json_parse(GetParam());
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_FALSE(json_is_canonical(GetParam(), *value));
}

INSTANTIATE_TEST_SUITE_P(Rows, NotCanonical,
                         ::testing::Values(" {}",               // white space in front
                                           "{}\n",              // white space behind
                                           "[1, 2]",            // white space inside
                                           R"({"b":1,"a":2})",  // members out of order
                                           R"({"\u0061":1})",   // key with an escape
                                           R"(["\u0041"])",     // escape not needed
                                           R"(["\/"])",         // slash escaped
                                           R"(["\u000A"])",     // short form exists
                                           R"(["\u001F"])",     // upper-case hex digit
                                           R"(["\u00e9"])"));   // verbatim form exists

}  // namespace
}  // namespace aasm::schema
