#include "aasm/schema/json_check.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

#include "record_samples.h"

// json_check() says of a value what json_parse() says of its text.
namespace aasm::schema {
namespace {

JsonValue nested(std::size_t levels) {
  JsonValue value = true;
  for (std::size_t i = 0; i < levels; ++i) {
    value = i % 2 == 0 ? JsonValue(JsonValue::Array{value})
                       : JsonValue(JsonValue::Object{{"k", value}});
  }
  return value;
}

JsonValue object_of(std::size_t members, const std::string& last) {
  JsonValue::Object object;
  for (std::size_t i = 1; i < members; ++i) {
    object.emplace_back("k" + std::to_string(i), true);
  }
  object.emplace_back(last, true);
  return object;
}

JsonValue items(std::size_t count) {
  return JsonValue(JsonValue::Array(count, JsonValue(std::int64_t{1})));
}

struct Row {
  const char* why;
  JsonValue value;
  bool inside;
};

std::vector<Row> rows() {
  std::vector<Row> all = {
      {"null", JsonValue(), true},
      {"a text of any bytes that are UTF-8", JsonValue(std::string("\0\"\x1f\xc3\xa9", 5)), true},
      {"greatest integer", JsonValue(kJsonMaxInteger), true},
      {"greatest integer and one", JsonValue(kJsonMaxInteger + 1), false},
      {"least integer", JsonValue(-kJsonMaxInteger), true},
      {"least integer less one", JsonValue(-kJsonMaxInteger - 1), false},
      {"integer past the limit inside", JsonValue::Array{JsonValue::Object{{"n", INT64_MIN}}},
       false},
      {"deepest", nested(kJsonMaxDepth), true},
      {"too deep", nested(kJsonMaxDepth + 1), false},
      {"most items", items(kJsonMaxMembers), true},
      {"an item too many", items(kJsonMaxMembers + 1), false},
      {"most members in two places",
       JsonValue::Array{items(kJsonMaxMembers - 3), JsonValue::Object{{"k", true}}}, true},
      {"a member too many in two places",
       JsonValue::Array{items(kJsonMaxMembers - 2), JsonValue::Object{{"k", true}}}, false},
      {"empty key", JsonValue::Object{{"", true}}, false},
      {"every key byte", JsonValue::Object{{"azAZ09_.:/-", true}}, true},
      {"key that is not ASCII", JsonValue::Object{{"\xc3\xa9", true}}, false},
      {"equal key elsewhere", JsonValue::Object{{"k", JsonValue::Object{{"k", true}}}}, true},
  };
  for (const std::size_t members : {2U, 23U, 24U, 25U, 26U, 60U}) {
    all.push_back({"members", object_of(members, "last"), true});
    all.push_back({"duplicate key", object_of(members, "k1"), false});
  }
  for (int byte = 1; byte < 128; ++byte) {
    const std::string key(1, static_cast<char>(byte));
    const bool allowed = isalnum(byte) != 0 || std::string("_.:/-").find(key) != std::string::npos;
    all.push_back({"key of one byte", JsonValue::Object{{key, true}}, allowed});
  }
  return all;
}

TEST(JsonCheckTest, SaysWhatParsingTheTextSays) {
  for (const Row& row : rows()) {
    EXPECT_EQ(json_check(row.value).has_value(), row.inside) << row.why;
    EXPECT_EQ(json_parse(json_write(row.value)).has_value(), row.inside) << row.why;
  }
}

TEST(JsonCheckTest, RoomIsCountedDown) {
  EXPECT_TRUE(json_check(nested(3), {3, 3}));
  EXPECT_FALSE(json_check(nested(3), {2, 3}));
  EXPECT_FALSE(json_check(nested(3), {3, 2}));
  EXPECT_TRUE(json_check(JsonValue(true), {0, 0}));
  EXPECT_FALSE(json_check(JsonValue::Array{}, {0, 0}));
}

TEST(JsonCheckTest, TakesEveryKindOfRecord) {
  for (const RecordBody& body : testing::sample_bodies()) {
    EXPECT_TRUE(json_check(write_body(body))) << kind_of(body);
  }
}

}  // namespace
}  // namespace aasm::schema
