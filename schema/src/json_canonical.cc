#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aasm/schema/json_parse.h"

#include "json_profile.h"
#include "utf8_decode.h"

namespace aasm::schema {
namespace {

// The widest value that kJsonMaxInteger has, so that no sum below overflows.
constexpr std::size_t kMaxDigits = 16;
constexpr std::size_t kLikelyMembers = 10;  // those of an envelope

// Reads one canonical text, and gives up at the first byte that is spelled another way: what is
// wrong with it is json_parse()'s to say. Every function returns false for that.
class CanonicalReader {
 public:
  explicit CanonicalReader(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool read(JsonValue& out) { return value(out, 0) && at_ == end_; }

 private:
  bool next_is(char c) const { return at_ != end_ && *at_ == c; }
  bool take(char c) {
    const bool there = next_is(c);
    at_ += there ? 1 : 0;
    return there;
  }
  bool literal(std::string_view word, JsonValue meaning, JsonValue& out);
  bool value(JsonValue& out, std::size_t depth);
  bool object(JsonValue& out, std::size_t depth);
  bool member(JsonValue::Object& object, std::size_t depth);
  bool array(JsonValue& out, std::size_t depth);
  bool key(std::string& out);
  bool string(std::string& out);
  bool escape(std::string& out);
  bool number(JsonValue& out);
  bool count_member() { return ++num_members_ <= kJsonMaxMembers; }

  const char* at_;
  const char* end_;
  std::size_t num_members_ = 0;
};

bool CanonicalReader::literal(std::string_view word, JsonValue meaning, JsonValue& out) {
  if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word)) {
    return false;
  }
  at_ += word.size();
  out = std::move(meaning);
  return true;
}

bool CanonicalReader::value(JsonValue& out, std::size_t depth) {
  if (at_ == end_) {
    return false;
  }
  switch (*at_) {
    case '"': {
      std::string text;
      const bool whole = string(text);
      out = JsonValue(std::move(text));
      return whole;
    }
    case '{':
      return depth < kJsonMaxDepth && object(out, depth + 1);
    case '[':
      return depth < kJsonMaxDepth && array(out, depth + 1);
    case 't':
      return literal("true", JsonValue(true), out);
    case 'f':
      return literal("false", JsonValue(false), out);
    case 'n':
      return literal("null", JsonValue(), out);
    default:
      return number(out);
  }
}

bool CanonicalReader::object(JsonValue& out, std::size_t depth) {
  ++at_;
  JsonValue::Object members;
  if (!take('}')) {
    members.reserve(kLikelyMembers);
    do {
      if (!member(members, depth)) {
        return false;
      }
    } while (take(','));
    if (!take('}')) {
      return false;
    }
  }
  out = JsonValue(std::move(members));
  return true;
}

bool CanonicalReader::member(JsonValue::Object& object, std::size_t depth) {
  JsonValue::Member& added = object.emplace_back();
  if (!key(added.first) || !count_member() || !take(':')) {
    return false;
  }
  // Ascending, so none stands twice either.
  if (object.size() > 1 && object[object.size() - 2].first >= added.first) {
    return false;
  }
  return value(added.second, depth);
}

bool CanonicalReader::array(JsonValue& out, std::size_t depth) {
  ++at_;
  JsonValue::Array items;
  if (!take(']')) {
    do {
      if (!count_member() || !value(items.emplace_back(), depth)) {
        return false;
      }
    } while (take(','));
    if (!take(']')) {
      return false;
    }
  }
  out = JsonValue(std::move(items));
  return true;
}

bool CanonicalReader::key(std::string& out) {
  if (!take('"')) {
    return false;
  }
  const char* begin = at_;
  at_ = std::find_if_not(at_, end_, detail::is_key_char);
  out.assign(begin, static_cast<std::size_t>(at_ - begin));
  return !out.empty() && take('"');
}

bool CanonicalReader::string(std::string& out) {
  ++at_;
  for (;;) {
    const char* begin = at_;
    at_ = std::find_if(at_, end_, detail::must_escape);
    out.append(begin, static_cast<std::size_t>(at_ - begin));
    if (at_ == end_) {
      return false;
    }
    if (take('"')) {
      return true;
    }
    if (!escape(out)) {
      return false;
    }
  }
}

// A bare control character is none, and of the two spellings of an escape only the one that
// json_write() uses is taken.
bool CanonicalReader::escape(std::string& out) {
  if (!take('\\') || at_ == end_) {
    return false;
  }
  if (const auto plain = detail::kEscapeLetters.find(*at_); plain != std::string_view::npos) {
    out += detail::kEscaped[plain];
    ++at_;
    return true;
  }
  if (end_ - at_ < 5 || !std::string_view(at_, 3).starts_with("u00") ||
      (at_[3] != '0' && at_[3] != '1')) {
    return false;
  }
  const auto low = detail::kHexDigits.find(at_[4]);
  if (low == std::string_view::npos) {
    return false;
  }
  const char c = static_cast<char>((at_[3] - '0') * 16 + static_cast<int>(low));
  at_ += 5;
  out += c;
  return detail::kEscaped.find(c) == std::string_view::npos;
}

bool CanonicalReader::number(JsonValue& out) {
  const bool negative = take('-');
  const char* begin = at_;
  std::int64_t magnitude = 0;
  while (at_ != end_ && *at_ >= '0' && *at_ <= '9') {
    if (static_cast<std::size_t>(at_ - begin) == kMaxDigits) {
      return false;
    }
    magnitude = magnitude * 10 + (*at_ - '0');
    ++at_;
  }
  if (at_ == begin || magnitude > kJsonMaxInteger) {
    return false;
  }
  if (*begin == '0' && (at_ - begin > 1 || negative)) {
    return false;
  }
  out = JsonValue(negative ? -magnitude : magnitude);
  return true;
}

}  // namespace

std::optional<JsonValue> json_parse_canonical(std::string_view text) {
  JsonValue value;
  if (detail::find_invalid_utf8(text) != std::string_view::npos ||
      !CanonicalReader(text).read(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace aasm::schema
