#include <algorithm>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

namespace aasm::schema {
namespace {

// Random values of the profile, the same in every run. Members come out sorted, as the parser
// gives them back from canonical text.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  JsonValue value(std::size_t depth_left) {
    switch (below(depth_left == 0 ? 4 : 6)) {
      case 0:
        return JsonValue();
      case 1:
        return below(2) == 0;
      case 2:
        return integer();
      case 3:
        return text();
      case 4:
        return array(depth_left - 1);
      default:
        return object(depth_left - 1);
    }
  }

  std::mt19937_64& random() { return random_; }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::int64_t integer() {
    const auto magnitude = static_cast<std::int64_t>(random_() >> (11 + below(53)));
    return below(2) == 0 ? magnitude : -magnitude;
  }

  std::string text() {
    std::string out;
    for (std::uint64_t left = below(12); left > 0; --left) {
      append_code_point(out);
    }
    return out;
  }

  void append_code_point(std::string& out) {
    const auto tail = [](std::uint64_t bits) { return static_cast<char>(0x80U | (bits & 0x3FU)); };
    std::uint64_t point = below(0x110000) >> below(21);
    if (point >= 0xD800 && point <= 0xDFFF) {
      point = '"';
    }
    if (point < 0x80) {
      out += static_cast<char>(point);
    } else if (point < 0x800) {
      out += {static_cast<char>(0xC0U | (point >> 6U)), tail(point)};
    } else if (point < 0x10000) {
      out += {static_cast<char>(0xE0U | (point >> 12U)), tail(point >> 6U), tail(point)};
    } else {
      out += {static_cast<char>(0xF0U | (point >> 18U)), tail(point >> 12U), tail(point >> 6U),
              tail(point)};
    }
  }

  JsonValue::Array array(std::size_t depth_left) {
    JsonValue::Array items;
    for (std::uint64_t left = below(6); left > 0; --left) {
      items.push_back(value(depth_left));
    }
    return items;
  }

  JsonValue::Object object(std::size_t depth_left) {
    constexpr std::string_view kAlphabet =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:/-";
    std::map<std::string, JsonValue> members;
    for (std::uint64_t left = below(6); left > 0; --left) {
      std::string key(1 + below(5), ' ');
      for (char& c : key) {
        c = kAlphabet[below(kAlphabet.size())];
      }
      members.emplace(std::move(key), value(depth_left));
    }
    return {members.begin(), members.end()};
  }

  std::mt19937_64 random_;
};

// Case L31.
TEST(JsonRoundTripTest, WhatIsWrittenParsesToTheSameValueAndIsCanonical) {
  Generator generator(0x5EED);
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
  Generator generator(0xA11CE);
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
  Generator generator(0xB17);
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
