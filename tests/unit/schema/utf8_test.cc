#include "aasm/schema/utf8.h"

#include <cstdint>
#include <ostream>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace aasm::schema {
namespace {

// Section 3.9 arithmetic, without the checks: also makes the forms that must be refused.
std::string encode(std::uint32_t value, int length) {
  const auto tail = [value](unsigned shift) {
    return static_cast<char>(0x80U | ((value >> shift) & 0x3FU));
  };
  switch (length) {
    case 1:
      return {static_cast<char>(value)};
    case 2:
      return {static_cast<char>(0xC0U | (value >> 6U)), tail(0)};
    case 3:
      return {static_cast<char>(0xE0U | (value >> 12U)), tail(6), tail(0)};
    default:
      return {static_cast<char>(0xF0U | (value >> 18U)), tail(12), tail(6), tail(0)};
  }
}

int shortest_length(std::uint32_t value) {
  if (value < 0x80) {
    return 1;
  }
  return value < 0x800 ? 2 : value < 0x10000 ? 3 : 4;
}

TEST(Utf8Test, EveryScalarValueIsValidInItsShortestFormAndSurrogatesAreNot) {
  for (std::uint32_t value = 0; value <= 0x10FFFF; ++value) {
    const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
    ASSERT_EQ(is_valid_utf8(encode(value, shortest_length(value))), !is_surrogate) << value;
  }
}

TEST(Utf8Test, NoOverlongFormIsValid) {
  for (std::uint32_t value = 0; value < 0x10000; ++value) {
    for (int length = shortest_length(value) + 1; length <= 4; ++length) {
      ASSERT_FALSE(is_valid_utf8(encode(value, length))) << value << " in " << length;
    }
  }
}

TEST(Utf8Test, NoValuePastTheLastPlaneIsValid) {
  for (std::uint32_t value = 0x110000; value < 0x200000; ++value) {
    ASSERT_FALSE(is_valid_utf8(encode(value, 4))) << value;
  }
}

TEST(Utf8Test, EmptyTextIsValid) {
  EXPECT_TRUE(is_valid_utf8(""));
}

TEST(Utf8Test, ABadByteIsFoundAtEveryPlaceInALongText) {
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    text[at] = static_cast<char>(0xFF);
    EXPECT_FALSE(is_valid_utf8(text)) << at;
  }
}

class Utf8Refuses : public ::testing::TestWithParam<const char*> {};

TEST_P(Utf8Refuses, AsInvalid) {
  EXPECT_FALSE(is_valid_utf8(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Bytes, Utf8Refuses,
                         ::testing::Values("\x80",                  // continuation alone
                                           "\xC3",                  // cut after the first of two
                                           "\xE2\x82",              // cut after the second of three
                                           "\xF0\x9F\x98",          // cut after the third of four
                                           "\xC3z",                 // no continuation
                                           "\xE2\x82z",             // no second continuation
                                           "\xF0\x9F\x98z",         // no third continuation
                                           "\xC3\xA9\xA9",          // one continuation too many
                                           "\xF8\x88\x80\x80\x80",  // five-byte form
                                           "\xFE\xFF",              // UTF-16 mark
                                           "abcdefgh\xC3"));        // behind an ASCII word

struct Shown {
  const char* name;
  std::string text;
  std::string shown;
};

void PrintTo(const Shown& row, std::ostream* out) {
  *out << row.name;
}

class EscapeForDisplay : public ::testing::TestWithParam<Shown> {};

TEST_P(EscapeForDisplay, ShowsIt) {
  EXPECT_EQ(escape_for_display(GetParam().text), GetParam().shown);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, EscapeForDisplay,
    ::testing::Values(Shown{"Empty", "", ""},  //
                      Shown{"PlainAsciiStays", "/usr/bin/env 'a b' \"c\"~",
                            "/usr/bin/env 'a b' \"c\"~"},  //
                      Shown{"LettersBeyondAsciiStay", "Zo\xC3\xAB \xE4\xBD\xA0 \xF0\x9F\x98\x80",
                            "Zo\xC3\xAB \xE4\xBD\xA0 \xF0\x9F\x98\x80"},
                      Shown{"JoinersStay",
                            "a\xE2\x80\x8D"
                            "b\xE2\x80\x8C",
                            "a\xE2\x80\x8D"
                            "b\xE2\x80\x8C"},
                      Shown{"Backslash", "a\\n", "a\\\\n"},             //
                      Shown{"Newline", "a\nb", "a\\nb"},                //
                      Shown{"CarriageReturn", "a\rb", "a\\rb"},         //
                      Shown{"Tab", "a\tb", "a\\tb"},                    //
                      Shown{"Nul", std::string("a\0b", 3), "a\\x00b"},  //
                      Shown{"EscapeSequence", "\x1b[2J", "\\x1b[2J"},   //
                      Shown{"Delete", "\x7f", "\\x7f"},                 //
                      Shown{"C1ControlSequenceIntroducer",
                            "\xC2\x9B"
                            "31m",
                            "\\u{9b}31m"},                                                        //
                      Shown{"NextLine", "\xC2\x85", "\\u{85}"},                                   //
                      Shown{"RightToLeftOverride", "a\xE2\x80\xAEgpj.exe", "a\\u{202e}gpj.exe"},  //
                      Shown{"Isolate", "\xE2\x81\xA6", "\\u{2066}"},                              //
                      Shown{"LeftToRightMark", "\xE2\x80\x8E", "\\u{200e}"},                      //
                      Shown{"ArabicLetterMark", "\xD8\x9C", "\\u{61c}"},                          //
                      Shown{"LineSeparator", "\xE2\x80\xA8", "\\u{2028}"},                        //
                      Shown{"ParagraphSeparator", "\xE2\x80\xA9", "\\u{2029}"},                   //
                      Shown{"ZeroWidthSpace", "a\xE2\x80\x8B", "a\\u{200b}"},                     //
                      Shown{"ByteOrderMark",
                            "\xEF\xBB\xBF"
                            "a",
                            "\\u{feff}a"},                                      //
                      Shown{"TagCharacter", "\xF3\xA0\x81\x81", "\\u{e0041}"},  //
                      Shown{"InvalidByte",
                            "a\xFF"
                            "b",
                            "a\\xffb"},  //
                      Shown{"RawC1Byte",
                            "\x9B"
                            "31m",
                            "\\x9b31m"},                               //
                      Shown{"CutSequence", "\xE2\x82", "\\xe2\\x82"},  //
                      Shown{"Surrogate", "\xED\xA0\x80", "\\xed\\xa0\\x80"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(EscapeForDisplayTest, TwoDifferentShortTextsNeverLookTheSame) {
  std::string alphabet = "\\nxu{}0a\n\x1b\x80\x85\xC2";
  alphabet += '\0';
  std::set<std::string> shown;
  std::size_t num_texts = 0;
  for (const char a : alphabet) {
    for (const char b : alphabet) {
      for (const char c : alphabet) {
        for (const char d : alphabet) {
          shown.insert(escape_for_display(std::string{a, b, c, d}));
          ++num_texts;
        }
      }
    }
  }
  EXPECT_EQ(shown.size(), num_texts);
}

TEST(EscapeForDisplayTest, EveryByteGivesPrintableValidText) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string shown = escape_for_display(std::string(1, static_cast<char>(byte)));
    EXPECT_TRUE(is_valid_utf8(shown)) << byte;
    for (const char c : shown) {
      EXPECT_TRUE(c >= ' ' && c <= '~') << byte;
    }
  }
}

}  // namespace
}  // namespace aasm::schema
