#include "plain_scalar.h"

#include <algorithm>
#include <array>

namespace aasm::planner {
namespace {

constexpr std::array<std::string_view, 6> kBooleans = {"true",  "True",  "TRUE",
                                                       "false", "False", "FALSE"};
constexpr std::array<std::string_view, 3> kInfinite = {".inf", ".Inf", ".INF"};
constexpr std::array<std::string_view, 3> kNoNumber = {".nan", ".NaN", ".NAN"};

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool made_of(std::string_view text, std::string_view letters) {
  return !text.empty() && text.find_first_not_of(letters) == std::string_view::npos;
}

bool digits(std::string_view text) {
  return made_of(text, "0123456789");
}

std::string_view without_sign(std::string_view text) {
  const bool sign = !text.empty() && (text.front() == '-' || text.front() == '+');
  return text.substr(sign ? 1 : 0);
}

// [0-9]+, [0-9]+\.[0-9]* or \.[0-9]+
bool decimal(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) {
    return digits(text);
  }
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = text.substr(point + 1);
  return whole.empty() ? digits(part) : digits(whole) && (part.empty() || digits(part));
}

bool number(std::string_view text) {
  if (text.substr(0, 2) == "0x") {
    return made_of(text.substr(2), "0123456789abcdefABCDEF");
  }
  if (text.substr(0, 2) == "0o") {
    return made_of(text.substr(2), "01234567");
  }
  if (is_one_of(text, kNoNumber)) {
    return true;
  }
  text = without_sign(text);
  const std::size_t power = text.find_first_of("eE");
  if (power != std::string_view::npos) {
    return decimal(text.substr(0, power)) && digits(without_sign(text.substr(power + 1)));
  }
  return is_one_of(text, kInfinite) || decimal(text);
}

}  // namespace

const char* type_of_plain(std::string_view text) {
  if (is_one_of(text, kBooleans)) {
    return "a boolean";
  }
  return number(text) ? "a number" : nullptr;
}

}  // namespace aasm::planner
