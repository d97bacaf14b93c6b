#include "aasm/schema/json_write.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/schema/utf8.h"

#include "json_profile.h"

namespace aasm::schema {
namespace {

// A string that grows without a call for each character.
class Output {
 public:
  void put(char c) {
    if (used_ == text_.size()) {
      grow(1);
    }
    *(text_.data() + used_++) = c;
  }
  void put(std::string_view bytes) {
    if (text_.size() - used_ < bytes.size()) {
      grow(bytes.size());
    }
    std::memcpy(text_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  std::string take() {
    text_.resize(used_);
    return std::move(text_);
  }

 private:
  void grow(std::size_t more) { text_.resize(std::max(2 * text_.size(), used_ + more + 512)); }

  std::string text_;
  std::size_t used_ = 0;
};

void put_escape(Output& out, char c) {
  out.put('\\');
  if (const auto at = detail::kEscaped.find(c); at != std::string_view::npos) {
    out.put(detail::kEscapeLetters[at]);
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  out.put(std::string_view("u00"));
  out.put(detail::kHexDigits[byte >> 4U]);
  out.put(detail::kHexDigits[byte & 0xFU]);
}

void put_string(Output& out, std::string_view text) {
  out.put('"');
  for (;;) {
    const auto special = std::find_if(text.begin(), text.end(), detail::must_escape);
    const auto plain = static_cast<std::size_t>(special - text.begin());
    out.put(text.substr(0, plain));
    if (special == text.end()) {
      break;
    }
    put_escape(out, *special);
    text.remove_prefix(plain + 1);
  }
  out.put('"');
}

void put_integer(Output& out, std::int64_t number) {
  std::array<char, 24> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.put(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void put_value(Output& out, const JsonValue& value);

void put_array(Output& out, const JsonValue::Array& array) {
  out.put('[');
  bool first = true;
  for (const JsonValue& item : array) {
    if (!first) {
      out.put(',');
    }
    first = false;
    put_value(out, item);
  }
  out.put(']');
}

void put_member(Output& out, const JsonValue::Member& member, bool first) {
  if (!first) {
    out.put(',');
  }
  put_string(out, member.first);
  out.put(':');
  put_value(out, member.second);
}

void put_object(Output& out, const JsonValue::Object& object) {
  const auto by_key = [](const JsonValue::Member& a, const JsonValue::Member& b) {
    return a.first < b.first;
  };
  bool first = true;
  out.put('{');
  // Parsed canonical text and most records are in order already: no index to build then.
  if (std::is_sorted(object.begin(), object.end(), by_key)) {
    for (const JsonValue::Member& member : object) {
      put_member(out, member, std::exchange(first, false));
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
      put_member(out, *member, std::exchange(first, false));
    }
  }
  out.put('}');
}

void put_value(Output& out, const JsonValue& value) {
  if (const std::string* text = value.as_string()) {
    put_string(out, *text);
  } else if (const std::int64_t* number = value.as_int()) {
    put_integer(out, *number);
  } else if (const JsonValue::Object* object = value.as_object()) {
    put_object(out, *object);
  } else if (const JsonValue::Array* array = value.as_array()) {
    put_array(out, *array);
  } else if (const bool* flag = value.as_bool()) {
    out.put(*flag ? std::string_view("true") : std::string_view("false"));
  } else {
    out.put(std::string_view("null"));
  }
}

}  // namespace

std::string json_write(const JsonValue& value) {
  Output output;
  put_value(output, value);
  std::string out = output.take();
  // One pass over the whole: an ASCII quote follows each string, so no broken sequence of one
  // string can be mended by what comes after it.
  if (!is_valid_utf8(out)) {
    std::abort();
  }
  return out;
}

}  // namespace aasm::schema
