#include "text.h"

#include <charconv>
#include <utility>

namespace aasm::ledger_format::detail {

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) {
    return std::nullopt;
  }
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  // from_chars takes no sign for an unsigned type and no white space.
  const std::from_chars_result result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::string_view> take_line(std::string_view& rest) {
  const std::size_t newline = rest.find('\n');
  if (newline == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view line = rest.substr(0, newline);
  rest.remove_prefix(newline + 1);
  return line;
}

std::vector<std::string_view> split_words(std::string_view line) {
  constexpr std::string_view kSpace = " \t";
  std::vector<std::string_view> words;
  std::size_t begin = line.find_first_not_of(kSpace);
  while (begin != std::string_view::npos) {
    std::size_t end = line.find_first_of(kSpace, begin);
    if (end == std::string_view::npos) {
      end = line.size();
    }
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kSpace, end);
  }
  return words;
}

schema::Error malformed(std::string message) {
  return {schema::ErrorCode::kMalformed, std::move(message)};
}

schema::Error invalid(std::string message) {
  return {schema::ErrorCode::kInvalidArgument, std::move(message)};
}

schema::Error at_line(std::size_t number, std::string_view message) {
  return malformed("line " + std::to_string(number) + ": " + std::string(message));
}

}  // namespace aasm::ledger_format::detail
