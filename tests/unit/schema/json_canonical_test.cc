#include <random>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "json_generator.h"

namespace aasm::schema {
namespace {

// Both readers on one text: the quick one takes it exactly when the strict one does and finds it
// canonical, and then says the same. Returns whether it was taken.
bool agree(const std::string& text) {
  const auto parsed = json_parse(text);
  const bool canonical = parsed && json_is_canonical(text, *parsed);
  const auto quick = json_parse_canonical(text);
  EXPECT_EQ(quick.has_value(), canonical) << text;
  EXPECT_TRUE(!quick || !parsed || *quick == *parsed) << text;
  return quick.has_value();
}

TEST(JsonParseCanonicalTest, TakesWhatTheWriterWrites) {
  test::JsonGenerator generator(0x5EED);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(agree(json_write(generator.value(6))));
  }
}

TEST(JsonParseCanonicalTest, AgreesWithTheStrictReaderOnChangedTexts) {
  constexpr std::string_view kBytes =
      "\"\\{}[],:0123456789-+eE.truefalsnbuU \t\n/z\x01\x7F\xC3\xA9";
  test::JsonGenerator generator(0xCA40);
  auto& random = generator.random();
  int taken = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string text = json_write(generator.value(3));
    for (std::uint64_t changes = 1 + random() % 2; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      const std::size_t erased = random() % 3;
      text.replace(at, erased, std::string(random() % 2, kBytes[random() % kBytes.size()]));
      text += text.empty() ? "0" : "";
    }
    taken += agree(text) ? 1 : 0;
  }
  EXPECT_GT(taken, 3000) << "hardly any changed text is canonical still";
}

TEST(JsonParseCanonicalTest, RefusesEveryOtherSpelling) {
  for (const char* text : {"",
                           " 1",
                           "1 ",
                           "01",
                           "-0",
                           "-",
                           "+1",
                           "1.0",
                           "1e0",
                           "9007199254740992",
                           "-9007199254740992",
                           "99999999999999999999",
                           "tru",
                           "nulll",
                           "\"",
                           "\"\\\"",
                           "\"\\/\"",
                           "\"\\u0041\"",
                           "\"\\u000A\"",
                           "\"\\u000a\"",
                           "\"\\u001F\"",
                           "\"\\u00\"",
                           "\"\\u002\"",
                           "\"\t\"",
                           "\"\x80\"",
                           "\"\\ud800\"",
                           "[1,]",
                           "[,1]",
                           "[1 ,2]",
                           "[",
                           "[1",
                           "{\"a\":1,}",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"b\":1,\"a\":2}",
                           "{\"a\":1,\"a\":2}",
                           "{\"\":1}",
                           "{\"a b\":1}",
                           "{\"a\\u0062\":1}",
                           "{\"a\": 1}",
                           "{1:2}",
                           "{} {}",
                           "\xEF\xBB\xBF{}"}) {
    EXPECT_FALSE(agree(text)) << text;
  }
  EXPECT_FALSE(agree(std::string("1\0", 2)));
}

TEST(JsonParseCanonicalTest, TakesWhatLooksOddAndIsCanonical) {
  for (const char* text :
       {"0", "-1", "9007199254740991", "-9007199254740991", "true", "false", "null", "\"\"", "[]",
        "{}", "[[],{}]", "\"\\\\\\\"\\b\\t\\n\\f\\r\\u0000\\u001f\"", "\"/\x7F\xC3\xA9\"",
        "{\"A\":1,\"a\":2,\"a.b\":[null]}"}) {
    EXPECT_TRUE(agree(text)) << text;
  }
}

TEST(JsonParseCanonicalTest, TheBoundsAreThoseOfTheStrictReader) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(agree(nested(kJsonMaxDepth)));
  EXPECT_FALSE(agree(nested(kJsonMaxDepth + 1)));
  const auto items = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 1; i < count; ++i) {
      text += ",0";
    }
    return text + "]";
  };
  EXPECT_TRUE(agree(items(kJsonMaxMembers)));
  EXPECT_FALSE(agree(items(kJsonMaxMembers + 1)));
}

}  // namespace
}  // namespace aasm::schema
