#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "aasm/schema/json_value.h"

namespace aasm::schema::test {

// Random values of the profile, the same in every run. Members come out sorted, as the parser
// gives them back from canonical text.
class JsonGenerator {
 public:
  explicit JsonGenerator(std::uint64_t seed) : random_(seed) {}

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

}  // namespace aasm::schema::test
