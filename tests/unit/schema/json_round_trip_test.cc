#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "json_generator.h"

namespace aasm::schema {
namespace {

// Case L31.
TEST(JsonRoundTripTest, WhatIsWrittenParsesToTheSameValueAndIsCanonical) {
  test::JsonGenerator generator(0x5EED);
  std::size_t longest = 0;
  for (int i = 0; i < 5000; ++i) {
    const JsonValue value = generator.value(6);
    const std::string text = json_write(value);
    const auto parsed = json_parse(text);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message() << " in " << text;
    ASSERT_EQ(*parsed, value) << text;
    ASSERT_TRUE(json_is_canonical(text, *parsed)) << text;
    longest = std::max(longest, text.size());
  }
  EXPECT_GT(longest, 1000U) << "the generator makes only trivial values";
}

void shuffle_members(JsonValue& value, std::mt19937_64& random) {
  if (JsonValue::Array* array = value.as_array()) {
    for (JsonValue& item : *array) {
      shuffle_members(item, random);
    }
  }
  if (JsonValue::Object* object = value.as_object()) {
    std::shuffle(object->begin(), object->end(), random);
    for (JsonValue::Member& member : *object) {
      shuffle_members(member.second, random);
    }
  }
}

TEST(JsonRoundTripTest, TheOrderMembersWereAddedInDoesNotShow) {
  test::JsonGenerator generator(0xA11CE);
  std::size_t num_shuffled = 0;
  for (int i = 0; i < 2000; ++i) {
    const JsonValue value = generator.value(5);
    JsonValue shuffled = value;
    shuffle_members(shuffled, generator.random());
    num_shuffled += shuffled == value ? 0U : 1U;
    ASSERT_EQ(json_write(shuffled), json_write(value));
  }
  EXPECT_GT(num_shuffled, 100U);
}

// Any one byte changed in canonical text: refused, or a text that says something else, or the same
// value in a spelling that is not canonical. Never two canonical spellings of one value.
TEST(JsonRoundTripTest, OneByteChangedNeverGivesASecondCanonicalSpelling) {
  test::JsonGenerator generator(0xB17);
  auto& random = generator.random();
  for (int i = 0; i < 20000; ++i) {
    const JsonValue value = generator.value(3);
    const std::string text = json_write(value);
    std::string changed = text;
    changed[random() % changed.size()] = static_cast<char>(random());
    const auto parsed = json_parse(changed);
    if (changed == text || !parsed.has_value()) {
      continue;
    }
    ASSERT_FALSE(*parsed == value && json_is_canonical(changed, *parsed)) << text;
  }
}

}  // namespace
}  // namespace aasm::schema
