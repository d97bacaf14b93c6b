#include "aasm/schema/json_value.h"

#include <string>

#include <gtest/gtest.h>

namespace aasm::schema {
namespace {

TEST(JsonValueTest, NamesEachOfItsSixTypes) {
  EXPECT_EQ(JsonValue().type_name(), "null");
  EXPECT_EQ(JsonValue(true).type_name(), "boolean");
  EXPECT_EQ(JsonValue(std::int64_t{1}).type_name(), "integer");
  EXPECT_EQ(JsonValue("a").type_name(), "string");
  EXPECT_EQ(JsonValue(JsonValue::Array{}).type_name(), "array");
  EXPECT_EQ(JsonValue(JsonValue::Object{}).type_name(), "object");
}

TEST(JsonValueTest, AStringLiteralIsAStringAndNoBoolean) {
  const JsonValue value = "text";
  EXPECT_EQ(value.as_bool(), nullptr);
  ASSERT_NE(value.as_string(), nullptr);
  EXPECT_EQ(*value.as_string(), "text");
}

TEST(JsonValueTest, AnAccessorOfAnotherTypeGivesNothing) {
  const JsonValue value = std::int64_t{7};
  EXPECT_FALSE(value.is_null());
  EXPECT_EQ(value.as_bool(), nullptr);
  EXPECT_EQ(value.as_string(), nullptr);
  EXPECT_EQ(value.as_array(), nullptr);
  EXPECT_EQ(value.as_object(), nullptr);
  ASSERT_NE(value.as_int(), nullptr);
  EXPECT_EQ(*value.as_int(), 7);
}

TEST(JsonValueTest, FindGivesTheMemberOfThatNameOnly) {
  const JsonValue value = JsonValue::Object{{"a", std::int64_t{1}}, {"ab", JsonValue()}};
  ASSERT_NE(value.find("a"), nullptr);
  EXPECT_EQ(*value.find("a"), JsonValue(std::int64_t{1}));
  ASSERT_NE(value.find("ab"), nullptr);
  EXPECT_TRUE(value.find("ab")->is_null());
  EXPECT_EQ(value.find("b"), nullptr);
  EXPECT_EQ(value.find(""), nullptr);
}

TEST(JsonValueTest, FindInWhatIsNoObjectGivesNothing) {
  EXPECT_EQ(JsonValue("a").find("a"), nullptr);
  EXPECT_EQ(JsonValue(JsonValue::Array{"a"}).find("a"), nullptr);
}

TEST(JsonValueTest, ValuesOfDifferentTypesAreNotEqual) {
  EXPECT_NE(JsonValue(false), JsonValue());
  EXPECT_NE(JsonValue(std::int64_t{0}), JsonValue(false));
  EXPECT_NE(JsonValue("1"), JsonValue(std::int64_t{1}));
  EXPECT_NE(JsonValue(JsonValue::Array{}), JsonValue(JsonValue::Object{}));
}

}  // namespace
}  // namespace aasm::schema
