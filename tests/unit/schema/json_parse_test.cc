#include "aasm/schema/json_parse.h"

#include <algorithm>
#include <ctime>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "aasm/schema/utf8.h"

namespace aasm::schema {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string repeat(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) {
    text += part;
  }
  return text;
}

std::string arrays(std::size_t levels) {
  return repeat("[", levels) + repeat("]", levels);
}

std::string items(std::size_t count) {
  return "[0" + repeat(",0", count - 1) + "]";
}

std::string members(std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  }
  return text + "}";
}

struct Refused {
  const char* name;
  std::string text;
  std::string reason;  // what the message must say
  std::size_t offset;  // where it must say it is
};

void PrintTo(const Refused& row, std::ostream* out) {
  *out << row.name;
}

class JsonParseRefuses : public ::testing::TestWithParam<Refused> {};

// Cases L29 and L34.
TEST_P(JsonParseRefuses, SayingWhatAndWhere) {
  const auto value = json_parse(GetParam().text);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code(), ErrorCode::kMalformed);
  EXPECT_THAT(value.error().message(), HasSubstr(GetParam().reason));
  EXPECT_THAT(value.error().message() + ";",
              HasSubstr(" at byte " + std::to_string(GetParam().offset) + ";"));
}

std::string row_name(const ::testing::TestParamInfo<Refused>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(
    Bytes, JsonParseRefuses,
    ::testing::Values(Refused{"ByteOrderMark", "\xEF\xBB\xBF{}", "byte order mark", 0},           //
                      Refused{"ByteOrderMarkInside", "[\xEF\xBB\xBF]", "syntax error", 1},        //
                      Refused{"Utf16WithMark", std::string("\xFF\xFE{\0}\0", 6), "NUL byte", 3},  //
                      Refused{"Utf16BigEndian", std::string("\0{\0}", 4), "NUL byte", 0},         //
                      Refused{"Utf16LittleEndian", std::string("{\0}\0", 4), "NUL byte", 1},      //
                      Refused{"NulBehind", std::string("{}\0", 3), "NUL byte", 2},                //
                      Refused{"MoreBehindNul", std::string("{}\0{}", 5), "NUL byte", 2},          //
                      Refused{"NulInString", std::string("[\"a\0b\"]", 7), "NUL byte", 3},        //
                      Refused{"Latin1InString", "[\"\xE9\"]", "invalid UTF-8", 2},                //
                      Refused{"OverlongSlash", "[\"\xC0\xAF\"]", "invalid UTF-8", 2},             //
                      Refused{"EncodedSurrogate", "[\"a\xED\xA0\x80\"]", "invalid UTF-8", 3},     //
                      Refused{"PastTheLastPlane", "[\"\xF4\x90\x80\x80\"]", "invalid UTF-8", 2},  //
                      Refused{"CutSequence", "[\"\xE2\x82\"]", "invalid UTF-8", 2},               //
                      Refused{"InvalidByteOutsideStrings", "{}\xFF", "invalid UTF-8", 2}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Numbers, JsonParseRefuses,
    ::testing::Values(
        Refused{"OnePointZero", "[1.0]", "real number", 1},                                    //
        Refused{"Fraction", "{\"a\":0.5}", "real number", 5},                                  //
        Refused{"Exponent", "[7,1e6]", "exponent", 3},                                         //
        Refused{"UpperCaseExponent", "[1E6]", "exponent", 1},                                  //
        Refused{"ExponentWithSign", "[1e+6]", "exponent", 1},                                  //
        Refused{"ZeroExponent", "[1e0]", "exponent", 1},                                       //
        Refused{"HugeExponent", "[1e400]", "exponent", 1},                                     //
        Refused{"TinyExponent", "[1e-400]", "exponent", 1},                                    //
        Refused{"MinusZero", "[-0]", "-0", 1},                                                 //
        Refused{"MinusZeroAlone", "-0", "-0", 0},                                              //
        Refused{"MinusZeroPointZero", "[-0.0]", "real number", 1},                             //
        Refused{"LeadingZero", "[01]", "syntax error", 2},                                     //
        Refused{"LeadingZeros", "[00]", "syntax error", 2},                                    //
        Refused{"MinusLeadingZero", "[-01]", "-0", 1},                                         //
        Refused{"TwoToThe53", "[9007199254740992]", "past 2^53-1", 1},                         //
        Refused{"MinusTwoToThe53", "[-9007199254740992]", "past -(2^53-1)", 1},                //
        Refused{"TwoToThe63", "[ 9223372036854775808]", "past 2^53-1", 2},                     //
        Refused{"TwoToThe64", "[18446744073709551616]", "past 2^53-1", 1},                     //
        Refused{"BelowMinusTwoToThe63", "[-9223372036854775809]", "past 2^53-1", 1},           //
        Refused{"FourHundredDigits", "[" + repeat("9", 400) + "]", "integer past 2^53-1", 1},  //
        Refused{"PlusSign", "[+1]", "syntax error", 1},                                        //
        Refused{"BareMinus", "[-]", "syntax error", 2},                                        //
        Refused{"NoDigitsBeforePoint", "[.5]", "syntax error", 1},                             //
        Refused{"NoDigitsAfterPoint", "[1.]", "syntax error", 3},                              //
        Refused{"Hexadecimal", "[0x1]", "syntax error", 2},                                    //
        Refused{"Underscore", "[1_0]", "syntax error", 2},                                     //
        Refused{"NaN", "[NaN]", "syntax error", 1},                                            //
        Refused{"Infinity", "[Infinity]", "syntax error", 1},                                  //
        Refused{"MinusInfinity", "[-Infinity]", "syntax error", 2}),
    row_name);

// RFC 8785 Appendix B: of its numbers only 0 is in the profile.
INSTANTIATE_TEST_SUITE_P(
    Rfc8785AppendixB, JsonParseRefuses,
    ::testing::Values(Refused{"MinimumPositive", "5e-324", "exponent", 0},                  //
                      Refused{"MinimumNegative", "-5e-324", "exponent", 0},                 //
                      Refused{"MaximumPositive", "1.7976931348623157e+308", "real", 0},     //
                      Refused{"MaximumPositiveInteger", "9007199254740992", "2^53-1", 0},   //
                      Refused{"MaximumNegativeInteger", "-9007199254740992", "2^53-1", 0},  //
                      Refused{"TwoToThe68", "295147905179352830000", "2^53-1", 0},          //
                      Refused{"JustBelow1e23", "9.999999999999997e+22", "real", 0},         //
                      Refused{"Real", "333333333.3333332", "real", 0},                      //
                      Refused{"MinusSmall", "-0.0000033333333333333333", "real", 0},        //
                      Refused{"RoundToEven", "1424953923781206.2", "real", 0}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Strings, JsonParseRefuses,
    ::testing::Values(
        Refused{"LoneHighSurrogate", R"(["\ud800"])", "surrogate", 8},                      //
        Refused{"LoneLowSurrogate", R"(["\udc00"])", "surrogate", 7},                       //
        Refused{"HighSurrogateTwice", R"(["\ud800\ud800"])", "surrogate", 13},              //
        Refused{"HighSurrogateThenLetter", R"(["\ud800x"])", "surrogate", 8},               //
        Refused{"SurrogatesSwapped", R"(["\udc00\ud800"])", "surrogate", 7},                //
        Refused{"RawNewline", "[\"a\nb\"]", "control character", 3},                        //
        Refused{"RawTab", "[\"\t\"]", "control character", 2},                              //
        Refused{"RawUnitSeparator", "[\"\x1f\"]", "control character", 2},                  //
        Refused{"UnknownEscape", R"(["\x41"])", "forbidden character after backslash", 3},  //
        Refused{"OctalEscape", R"(["\0"])", "forbidden character after backslash", 3},      //
        Refused{"ShortUnicodeEscape", R"(["\u12"])", "4 hex digits", 6},                    //
        Refused{"SingleQuotes", "['a']", "syntax error", 1},                                //
        Refused{"NoClosingQuote", "[\"a", "missing closing quote", 3}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Keys, JsonParseRefuses,
    ::testing::Values(
        Refused{"Duplicate", R"({"a":1,"a":1})", "duplicate key", 7},                          //
        Refused{"DuplicateAfterEscape", R"({"a":1,"\u0061":2})", "duplicate key", 7},          //
        Refused{"DuplicateInNestedObject", R"([{"a":{"b":1, "b":2}}])", "duplicate key", 14},  //
        Refused{"DuplicateNotAdjacent", R"({"a":1,"b":2,"a":3})", "duplicate key", 13},        //
        Refused{"DuplicateOfTheFirstOfMany",
                members(100).substr(0, members(100).size() - 1) + ",\"k0\":0}", "duplicate key",
                members(100).size()},
        Refused{"DuplicateOfTheLastOfMany",
                members(100).substr(0, members(100).size() - 1) + ",\"k99\":0}", "duplicate key",
                members(100).size()},
        Refused{"Empty", R"({"":1})", "empty key", 1},                       //
        Refused{"Space", R"({"a b":1})", "key outside", 1},                  //
        Refused{"Dollar", R"({"$ref":1})", "key outside", 1},                //
        Refused{"AtSign", R"({"a":1, "@b":1})", "key outside", 8},           //
        Refused{"Plus", R"({"a+b":1})", "key outside", 1},                   //
        Refused{"EscapedNul", R"({"a\u0000":1})", "key outside", 1},         //
        Refused{"EscapedQuote", R"({"a\"b":1})", "key outside", 1},          //
        Refused{"EscapedBackslash", R"({"a\\":1})", "key outside", 1},       //
        Refused{"EscapedNewline", R"({"a\n":1})", "key outside", 1},         //
        Refused{"Latin", "{\"\xC3\xB6\":1}", "key outside", 1},              //
        Refused{"SortingExampleEuro", R"({"\u20ac":1})", "key outside", 1},  //
        Refused{"SortingExampleEmoji", R"({"\ud83d\ude00":1})", "key outside", 1}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Limits, JsonParseRefuses,
    ::testing::Values(
        Refused{"ArraysOf33Levels", arrays(33), "more than 32 levels", 32},  //
        Refused{"ObjectsOf33Levels", repeat("{\"a\":", 32) + "{}" + repeat("}", 32),
                "more than 32 levels", 160},
        Refused{"UnclosedLevels", repeat("[", 100000), "more than 32 levels", 32},  //
        Refused{"Items8193", items(8193), "more than 8192 members", 16385},         //
        Refused{"Members8193", members(8193), "more than 8192 members", members(8192).size()},
        Refused{"MembersAndItemsTogether", "{\"a\":" + items(8191) + ",\"b\":1}",
                "more than 8192 members", items(8191).size() + 6},
        Refused{"ItemsThatAreArrays", "[[]" + repeat(",[]", 8192) + "]", "more than 8192 members",
                3 * 8192 + 1},
        Refused{"ItemsThatAreLiterals", "[true" + repeat(",true", 8192) + "]",
                "more than 8192 members", 5 * 8192 + 1},
        // Nothing after the 8193rd item is read: the text is not even closed.
        Refused{"ManyItemsUnclosed", "[0" + repeat(",0", 50000), "more than 8192 members", 16385}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Grammar, JsonParseRefuses,
    ::testing::Values(Refused{"Empty", "", "syntax error", 0},                             //
                      Refused{"OnlySpace", "  ", "syntax error", 2},                       //
                      Refused{"SecondValue", "{}{}", "syntax error", 2},                   //
                      Refused{"SecondValueAfterSpace", "{} 1", "syntax error", 3},         //
                      Refused{"LetterBehind", "{}x", "syntax error", 2},                   //
                      Refused{"LineComment", "{} // c", "syntax error", 3},                //
                      Refused{"BlockComment", "[/*c*/1]", "syntax error", 1},              //
                      Refused{"HashComment", "[1] #", "syntax error", 4},                  //
                      Refused{"TrailingCommaInArray", "[1,]", "syntax error", 3},          //
                      Refused{"TrailingCommaInObject", R"({"a":1,})", "syntax error", 7},  //
                      Refused{"LeadingComma", "[,1]", "syntax error", 1},                  //
                      Refused{"NoComma", "[1 2]", "syntax error", 3},                      //
                      Refused{"NoColon", R"({"a" 1})", "syntax error", 5},                 //
                      Refused{"NoValue", R"({"a":})", "syntax error", 5},                  //
                      Refused{"BareKey", "{a:1}", "syntax error", 1},                      //
                      Refused{"IntegerKey", "{1:1}", "syntax error", 1},                   //
                      Refused{"UnclosedArray", "[1", "syntax error", 2},                   //
                      Refused{"UnclosedObject", R"({"a":1)", "syntax error", 6},           //
                      Refused{"CrossedBrackets", "[1}", "syntax error", 2},                //
                      Refused{"CapitalLiteral", "[True]", "syntax error", 1},              //
                      Refused{"CutLiteral", "[nul]", "syntax error", 4},                   //
                      Refused{"Undefined", "[undefined]", "syntax error", 1},              //
                      Refused{"FormFeedAsSpace", "[\f1]", "syntax error", 1},              //
                      Refused{"NoBreakSpace",
                              "[\xC2\xA0"
                              "1]",
                              "syntax error", 1},  //
                      Refused{"RecordSeparator", "\x1e{}", "syntax error", 0}),
    row_name);

struct Accepted {
  const char* name;
  std::string text;
  JsonValue value;
};

void PrintTo(const Accepted& row, std::ostream* out) {
  *out << row.name;
}

class JsonParseAccepts : public ::testing::TestWithParam<Accepted> {};

TEST_P(JsonParseAccepts, AsThisValue) {
  const auto value = json_parse(GetParam().text);
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(*value, GetParam().value);
}

// The near neighbours of what is refused above.
INSTANTIATE_TEST_SUITE_P(
    Rows, JsonParseAccepts,
    ::testing::Values(Accepted{"Null", "null", JsonValue()},                               //
                      Accepted{"Zero", "0", std::int64_t{0}},                              //
                      Accepted{"LargestInteger", "9007199254740991", kJsonMaxInteger},     //
                      Accepted{"SmallestInteger", "-9007199254740991", -kJsonMaxInteger},  //
                      Accepted{"IntegerBeforeSpace", "-1 ", std::int64_t{-1}},             //
                      Accepted{"JsonSpace", " \t\r\n[ true , false ] \n",
                               JsonValue::Array{true, false}},                                   //
                      Accepted{"EveryShortEscape", R"("\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},  //
                      Accepted{"EscapedNulInValue", R"("a\u0000b")", std::string("a\0b", 3)},    //
                      Accepted{"SurrogatePair", R"("\ud83d\ude00")", "\xF0\x9F\x98\x80"},        //
                      Accepted{"RawDelete", "\"\x7f\"", "\x7f"},                                 //
                      Accepted{"ByteOrderMarkInString", "\"\xEF\xBB\xBF\"", "\xEF\xBB\xBF"},     //
                      Accepted{"MembersKeepTheirOrder", R"({"b":1,"a":"x"})",
                               JsonValue::Object{{"b", std::int64_t{1}}, {"a", "x"}}},
                      Accepted{"SameKeyInTwoObjects", R"([{"a":null},{"a":null}])",
                               JsonValue::Array{JsonValue::Object{{"a", JsonValue()}},
                                                JsonValue::Object{{"a", JsonValue()}}}},
                      Accepted{"SameKeyInsideItsValue", R"({"a":{"a":null}})",
                               JsonValue::Object{{"a", JsonValue::Object{{"a", JsonValue()}}}}},
                      Accepted{"KeysThatDifferInCase", R"({"a":null,"A":null})",
                               JsonValue::Object{{"a", JsonValue()}, {"A", JsonValue()}}},
                      Accepted{"EveryOtherKeyCharacter", R"({"aZ09_.:/-":null})",
                               JsonValue::Object{{"aZ09_.:/-", JsonValue()}}}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(JsonParseTest, TheLimitsThemselvesAreAccepted) {
  EXPECT_TRUE(json_parse(arrays(32)).has_value());
  EXPECT_TRUE(json_parse(items(8192)).has_value());
  EXPECT_TRUE(json_parse(members(8192)).has_value());
  EXPECT_TRUE(json_parse("{\"a\":" + items(8190) + ",\"b\":1}").has_value());
}

TEST(JsonParseTest, EveryKeyByteIsJudgedByTheAlphabet) {
  constexpr std::string_view kAlphabet =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
  for (unsigned byte = 0x20; byte < 0x7F; ++byte) {
    const char c = static_cast<char>(byte);
    if (c == '"' || c == '\\') {
      continue;
    }
    const auto value = json_parse("{\"k" + std::string(1, c) + "\":0}");
    EXPECT_EQ(value.has_value(), kAlphabet.find(c) != std::string_view::npos) << c;
  }
}

TEST(JsonParseTest, EveryCutOfAGoodObjectIsRefused) {
  const std::string text = R"({"a":[1,-2,"x\u20ac\n",true,null],"b":{"c":false}})";
  ASSERT_TRUE(json_parse(text).has_value());
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(json_parse(text.substr(0, length)).has_value()) << length;
  }
}

// Messages go to terminals and logs; the text may hold secrets or control sequences.
TEST(JsonParseTest, MessagesRepeatNothingOfTheText) {
  for (const std::string text :
       {"[hunter2]", "[\"hunter2", "{\"hunter2\":1,\"hunter2\":1}", "{\"hunter2 \":1}",
        "[\"hunter2\n\"]", "[\"\\hunter2\"]", "{} hunter2", "{\"a\":'hunter2'}",
        "[\"\xE2\x80\xAE hunter2 \\ud800\"]", "[tru\xE2\x80\xAEhunter2]"}) {
    const auto value = json_parse(text);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_THAT(value.error().message(), Not(HasSubstr("hunter")));
    EXPECT_EQ(escape_for_display(value.error().message()).find("\\u{"), std::string::npos);
  }
}

// Processor time of one parse: the least of several, which other load disturbs least.
double parse_seconds(const std::string& text) {
  double least = 1e9;
  for (int i = 0; i < 7; ++i) {
    const std::clock_t begin = std::clock();
    EXPECT_TRUE(json_parse(text).has_value());
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// A text made to be slow has as many keys in one object as there may be. Eight times the keys
// cost about nine times the time; compared each with each they would cost fifty times.
TEST(JsonParseTest, ManyKeysInOneObjectDoNotCostTheirSquare) {
  const double few = parse_seconds(members(1024));
  const double many = parse_seconds(members(8192));
  EXPECT_LT(many, 25 * few + 0.001);
}

}  // namespace
}  // namespace aasm::schema
