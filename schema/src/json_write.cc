#include "aasm/schema/json_write.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "aasm/schema/utf8.h"

namespace aasm::schema {
namespace {

constexpr std::array<bool, 256> make_escape_table() {
  std::array<bool, 256> table{};
  for (std::size_t byte = 0; byte < 0x20; ++byte) {
    table[byte] = true;
  }
  table[static_cast<unsigned char>('"')] = true;
  table[static_cast<unsigned char>('\\')] = true;
  return table;
}

constexpr std::array<bool, 256> kMustEscape = make_escape_table();

// RFC 8785 section 3.2.2.2: the two-character form where JSON has one, else \u00xx in lower case.
void append_escape(std::string& out, char c) {
  constexpr std::string_view kPlain = "\b\t\n\f\r\"\\";
  constexpr std::string_view kLetters = "btnfr\"\\";
  out += '\\';
  if (const auto at = kPlain.find(c); at != std::string_view::npos) {
    out += kLetters[at];
    return;
  }
  constexpr std::string_view kHexDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "u00";
  out += kHexDigits[byte >> 4U];
  out += kHexDigits[byte & 0xFU];
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t run_begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kMustEscape[static_cast<unsigned char>(text[i])]) {
      out += text.substr(run_begin, i - run_begin);
      append_escape(out, text[i]);
      run_begin = i + 1;
    }
  }
  out += text.substr(run_begin);
  out += '"';
}

void append_integer(std::string& out, std::int64_t number) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

void append_value(std::string& out, const JsonValue& value);

void append_array(std::string& out, const JsonValue::Array& array) {
  out += '[';
  bool first = true;
  for (const JsonValue& item : array) {
    if (!first) {
      out += ',';
    }
    first = false;
    append_value(out, item);
  }
  out += ']';
}

void append_member(std::string& out, const JsonValue::Member& member) {
  if (out.back() != '{') {
    out += ',';
  }
  append_string(out, member.first);
  out += ':';
  append_value(out, member.second);
}

void append_object(std::string& out, const JsonValue::Object& object) {
  const auto by_key = [](const JsonValue::Member& a, const JsonValue::Member& b) {
    return a.first < b.first;
  };
  out += '{';
  // Parsed canonical text and most records are in order already: no index to build then.
  if (std::is_sorted(object.begin(), object.end(), by_key)) {
    for (const JsonValue::Member& member : object) {
      append_member(out, member);
    }
  } else {
    std::vector<const JsonValue::Member*> order;
    order.reserve(object.size());
    for (const JsonValue::Member& member : object) {
      order.push_back(&member);
    }
    std::sort(order.begin(), order.end(),
              [&](const auto* a, const auto* b) { return by_key(*a, *b); });
    for (const JsonValue::Member* member : order) {
      append_member(out, *member);
    }
  }
  out += '}';
}

void append_value(std::string& out, const JsonValue& value) {
  if (const std::string* text = value.as_string()) {
    append_string(out, *text);
  } else if (const std::int64_t* number = value.as_int()) {
    append_integer(out, *number);
  } else if (const JsonValue::Object* object = value.as_object()) {
    append_object(out, *object);
  } else if (const JsonValue::Array* array = value.as_array()) {
    append_array(out, *array);
  } else if (const bool* flag = value.as_bool()) {
    out += *flag ? "true" : "false";
  } else {
    out += "null";
  }
}

}  // namespace

std::string json_write(const JsonValue& value) {
  std::string out;
  append_value(out, value);
  // One pass over the whole: an ASCII quote follows each string, so no broken sequence of one
  // string can be mended by what comes after it.
  if (!is_valid_utf8(out)) {
    std::abort();
  }
  return out;
}

}  // namespace aasm::schema
