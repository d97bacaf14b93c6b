#pragma once

#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace aasm::schema::detail {

// How far the library has read. Its callbacks do not say where they stand, so the iterator we
// give it moves this along.
struct Cursor {
  std::string_view text;
  std::size_t consumed = 0;
};

class CountingIterator {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the names std::iterator_traits asks for.
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  // NOLINTEND(readability-identifier-naming)

  CountingIterator(Cursor* cursor, std::size_t at) : cursor_(cursor), at_(at) {}
  reference operator*() const { return cursor_->text[at_]; }
  CountingIterator& operator++() {
    cursor_->consumed = ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  Cursor* cursor_;
  std::size_t at_;
};

// Where the token that a callback is about begins, given what kind it is.
enum class Token { kString, kNumber, kLiteral, kBracket };

inline bool is_number_char(char c) {
  return (c >= '0' && c <= '9') || std::string_view("+-.eE").find(c) != std::string_view::npos;
}

inline std::size_t string_begin(std::string_view read) {
  // A quote inside the string has a backslash before it; before the opening one, outside the
  // string, there can be none.
  std::size_t at = read.size() - 1;
  while (at > 0) {
    --at;
    if (read[at] == '"' && (at == 0 || read[at - 1] != '\\')) {
      break;
    }
  }
  return at;
}

inline std::size_t token_begin(const Cursor& cursor, Token token) {
  const std::string_view read = cursor.text.substr(0, cursor.consumed);
  std::size_t at = read.size();
  switch (token) {
    case Token::kString:
      return string_begin(read);
    case Token::kBracket:
      return at - 1;
    case Token::kLiteral:
      while (at > 0 && read[at - 1] >= 'a' && read[at - 1] <= 'z') {
        --at;
      }
      return at;
    case Token::kNumber:
      // The byte after a number has been read as well, unless the text ended.
      if (!is_number_char(read[at - 1])) {
        --at;
      }
      while (at > 0 && is_number_char(read[at - 1])) {
        --at;
      }
      return at;
  }
  std::abort();
}

}  // namespace aasm::schema::detail
