#pragma once

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "aasm/schema/json_value.h"

// What the reader and the writer of profile `aasm-json-1` must agree on.
namespace aasm::schema::detail {

constexpr std::array<bool, 256> make_key_table() {
  std::array<bool, 256> table{};
  for (std::size_t i = 0; i < 26; ++i) {
    table['a' + i] = true;
    table['A' + i] = true;
  }
  for (std::size_t i = 0; i < 10; ++i) {
    table['0' + i] = true;
  }
  for (const char c : {'_', '.', ':', '/', '-'}) {
    table[static_cast<unsigned char>(c)] = true;
  }
  return table;
}

inline constexpr std::array<bool, 256> kKeyBytes = make_key_table();

inline bool is_key_char(char c) {
  return kKeyBytes[static_cast<unsigned char>(c)];
}

constexpr std::array<bool, 256> make_escape_table() {
  std::array<bool, 256> table{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) {
    table[byte] = true;
  }
  table[static_cast<unsigned char>('"')] = true;
  table[static_cast<unsigned char>('\\')] = true;
  return table;
}

inline constexpr std::array<bool, 256> kMustEscape = make_escape_table();

inline bool must_escape(char c) {
  return kMustEscape[static_cast<unsigned char>(c)];
}

// RFC 8785 section 3.2.2.2: the two-character form where JSON has one, else \u00xx in lower case.
inline constexpr std::string_view kEscaped = "\b\t\n\f\r\"\\";
inline constexpr std::string_view kEscapeLetters = "btnfr\"\\";
inline constexpr std::string_view kHexDigits = "0123456789abcdef";

// Keys seen in one object. Few keys are compared one by one; many get a tree, so that a text made
// to be slow costs n log n.
class KeySet {
 public:
  // False when `key` is among the first `count` of `members` already.
  bool insert(const JsonValue::Object& members, std::size_t count, const std::string& key) {
    const auto end = members.begin() + static_cast<std::ptrdiff_t>(count);
    if (count < kFewKeys) {
      return std::none_of(members.begin(), end,
                          [&key](const auto& member) { return member.first == key; });
    }
    if (tree_.empty()) {
      std::for_each(members.begin(), end,
                    [this](const auto& member) { tree_.insert(member.first); });
    }
    return tree_.insert(key).second;
  }

 private:
  static constexpr std::size_t kFewKeys = 24;
  std::set<std::string> tree_;
};

}  // namespace aasm::schema::detail
