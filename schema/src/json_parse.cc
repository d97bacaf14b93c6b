#include "aasm/schema/json_parse.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "aasm/schema/json_write.h"

#include "json_cursor.h"
#include "json_profile.h"
#include "utf8_decode.h"

namespace aasm::schema {
namespace {

using detail::CountingIterator;
using detail::Cursor;
using detail::Token;

Error malformed(std::string_view what, std::size_t offset) {
  std::string message = "json: ";
  message += what;
  message += " at byte ";
  message += std::to_string(offset);
  return Error(ErrorCode::kMalformed, std::move(message));
}

// The library skips a byte order mark, takes NUL for the end of the text and looks at UTF-8 only
// inside strings: those three are settled here, before it sees a byte.
Result<void> check_bytes(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    return malformed("byte order mark", 0);
  }
  if (const auto at = text.find('\0'); at != std::string_view::npos) {
    return malformed("NUL byte", at);
  }
  if (const auto at = detail::find_invalid_utf8(text); at != std::string_view::npos) {
    return malformed("invalid UTF-8", at);
  }
  return {};
}

// What the library says is wrong, without the part that repeats the text it read.
std::string syntax_reason(std::string_view what) {
  constexpr std::string_view kBegin = "syntax error ";
  constexpr std::size_t kLongestReason = 200;
  const auto begin = what.find(kBegin);
  if (begin == std::string_view::npos) {
    return "syntax error";
  }
  const std::string_view reason = what.substr(begin, what.find("; last read", begin) - begin);
  const bool printable =
      std::all_of(reason.begin(), reason.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable && reason.size() <= kLongestReason ? std::string(reason) : "syntax error";
}

// Receives the library's events, checks each against the profile, and builds the value. A
// callback that returns false stops the parse; error() then says why.
class Builder {
 public:
  explicit Builder(const Cursor& cursor) : cursor_(cursor) {}

  bool null() { return add(JsonValue(), Token::kLiteral); }
  bool boolean(bool value) { return add(JsonValue(value), Token::kLiteral); }
  bool string(std::string& value) { return add(JsonValue(std::move(value)), Token::kString); }
  bool binary(const std::vector<std::uint8_t>& /*value*/) {
    return fail("binary value", Token::kString);  // only for binary formats, never for JSON text
  }

  // Called for tokens that begin with '-', so a zero here is "-0".
  bool number_integer(std::int64_t value) {
    if (value == 0) {
      return fail("-0", Token::kNumber);
    }
    if (value < -kJsonMaxInteger) {
      return fail("integer past -(2^53-1)", Token::kNumber);
    }
    return add(JsonValue(value), Token::kNumber);
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > std::uint64_t{kJsonMaxInteger}) {
      return fail("integer past 2^53-1", Token::kNumber);
    }
    return add(JsonValue(static_cast<std::int64_t>(value)), Token::kNumber);
  }
  // Real numbers, exponents, and integers that do not fit 64 bits.
  bool number_float(double /*value*/, const std::string& raw) {
    return fail(raw.find_first_of(".eE") == std::string::npos ? "integer past 2^53-1"
                                                              : "real number or exponent",
                Token::kNumber);
  }

  bool start_object(std::size_t /*size*/) { return open(JsonValue::Object()); }
  bool start_array(std::size_t /*size*/) { return open(JsonValue::Array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& key);

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::json::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) {
      const std::size_t begin = detail::token_begin(cursor_, Token::kNumber);
      return number_float(0, std::string(cursor_.text.substr(begin, cursor_.consumed - begin)));
    }
    // `position` counts the bytes read, the offending one and a read past the end included.
    error_ = malformed(syntax_reason(error.what()), position == 0 ? 0 : position - 1);
    return false;
  }

  std::optional<Error>& error() { return error_; }
  JsonValue& root() { return root_; }

 private:
  struct Level {
    JsonValue container;
    std::string key;  // of the member whose value comes next
    detail::KeySet keys;
  };

  bool fail(std::string_view what, Token token) {
    error_ = malformed(what, detail::token_begin(cursor_, token));
    return false;
  }
  bool count_member(Token token) {
    if (num_members_ == kJsonMaxMembers) {
      return fail("more than " + std::to_string(kJsonMaxMembers) + " members", token);
    }
    ++num_members_;
    return true;
  }
  bool add(JsonValue value, Token token);
  void attach(JsonValue value);
  bool open(JsonValue container);
  bool close();

  const Cursor& cursor_;
  std::vector<Level> levels_;
  std::size_t num_members_ = 0;
  JsonValue root_;
  std::optional<Error> error_;
};

bool Builder::key(std::string& key) {
  Level& level = levels_.back();
  if (key.empty()) {
    return fail("empty key", Token::kString);
  }
  if (!std::all_of(key.begin(), key.end(), detail::is_key_char)) {
    return fail("key outside [A-Za-z0-9_.:/-]", Token::kString);
  }
  const JsonValue::Object& object = *level.container.as_object();
  if (!level.keys.insert(object, object.size(), key)) {
    return fail("duplicate key", Token::kString);
  }
  level.key = std::move(key);
  return count_member(Token::kString);
}

bool Builder::add(JsonValue value, Token token) {
  // Object members were counted at their key.
  const bool is_item = !levels_.empty() && levels_.back().container.as_array() != nullptr;
  if (is_item && !count_member(token)) {
    return false;
  }
  attach(std::move(value));
  return true;
}

void Builder::attach(JsonValue value) {
  if (levels_.empty()) {
    root_ = std::move(value);
    return;
  }
  Level& level = levels_.back();
  if (JsonValue::Array* array = level.container.as_array()) {
    array->push_back(std::move(value));
  } else {
    level.container.as_object()->emplace_back(std::move(level.key), std::move(value));
  }
}

bool Builder::open(JsonValue container) {
  if (levels_.size() == kJsonMaxDepth) {
    return fail("more than " + std::to_string(kJsonMaxDepth) + " levels", Token::kBracket);
  }
  const bool is_item = !levels_.empty() && levels_.back().container.as_array() != nullptr;
  if (is_item && !count_member(Token::kBracket)) {
    return false;
  }
  levels_.push_back(Level{std::move(container), {}, {}});
  return true;
}

bool Builder::close() {
  JsonValue container = std::move(levels_.back().container);
  levels_.pop_back();
  attach(std::move(container));
  return true;
}

}  // namespace

Result<JsonValue> json_parse(std::string_view text) {
  AASM_TRY(check_bytes(text));
  Cursor cursor{text};
  Builder builder(cursor);
  const bool ok = nlohmann::json::sax_parse(CountingIterator(&cursor, 0),
                                            CountingIterator(&cursor, text.size()), &builder);
  if (builder.error()) {
    return std::move(*builder.error());
  }
  if (!ok) {
    return Error(ErrorCode::kInternal, "json: the parser stopped without a reason");
  }
  return std::move(builder.root());
}

bool json_is_canonical(std::string_view text, const JsonValue& value) {
  return json_write(value) == text;
}

}  // namespace aasm::schema
