#include "aasm/schema/time.h"

#include <array>
#include <cstdlib>
#include <limits>

namespace aasm::schema {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd.dddddddddZ";

struct Date {
  std::int64_t year;
  std::int64_t month;  // 1 to 12
  std::int64_t day;    // 1 to 31
};

// The proleptic Gregorian calendar in eras of 400 years (146097 days), each year taken to begin
// on 1 March so that the leap day is its last. 719468 days lie between 0000-03-01 and 1970-01-01.
constexpr std::int64_t kDaysPerEra = 146'097;
constexpr std::int64_t kEpochShift = 719'468;

Date date_from_days(std::int64_t days_since_epoch) {
  const std::int64_t days = days_since_epoch + kEpochShift;
  const std::int64_t era = days / kDaysPerEra;
  const std::int64_t day_of_era = days % kDaysPerEra;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t march_month = (5 * day_of_year + 2) / 153;  // 0 is March
  const std::int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
  const std::int64_t year = era * 400 + year_of_era + (month <= 2 ? 1 : 0);
  return {year, month, day_of_year - (153 * march_month + 2) / 5 + 1};
}

std::int64_t days_from_date(const Date& date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t march_month = date.month > 2 ? date.month - 3 : date.month + 9;
  const std::int64_t era = year / 400;
  const std::int64_t year_of_era = year % 400;
  const std::int64_t day_of_year = (153 * march_month + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kEpochShift;
}

std::int64_t days_in_month(std::int64_t year, std::int64_t month) {
  constexpr std::array<std::int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

void append_digits(std::string& text, std::int64_t number, std::size_t width) {
  const std::size_t begin = text.size();
  text.append(width, '0');
  for (std::size_t i = begin + width; i > begin; --i) {
    text[i - 1] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
}

bool has_shape(std::string_view text) {
  if (text.size() != kShape.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !is_digit : text[i] != kShape[i]) {
      return false;
    }
  }
  return true;
}

// Precondition: has_shape() has seen that these are digits.
std::int64_t read_digits(std::string_view text, std::size_t at, std::size_t width) {
  std::int64_t number = 0;
  for (const char c : text.substr(at, width)) {
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

std::string format_wall(std::int64_t unix_ns) {
  if (unix_ns < 0) {
    std::abort();
  }
  const std::int64_t seconds = unix_ns / kNanosPerSecond;
  const std::int64_t second_of_day = seconds % kSecondsPerDay;
  const Date date = date_from_days(seconds / kSecondsPerDay);
  std::string text;
  text.reserve(kShape.size());
  append_digits(text, date.year, 4);
  text += '-';
  append_digits(text, date.month, 2);
  text += '-';
  append_digits(text, date.day, 2);
  text += 'T';
  append_digits(text, second_of_day / 3600, 2);
  text += ':';
  append_digits(text, second_of_day / 60 % 60, 2);
  text += ':';
  append_digits(text, second_of_day % 60, 2);
  text += '.';
  append_digits(text, unix_ns % kNanosPerSecond, 9);
  text += 'Z';
  return text;
}

Result<std::int64_t> parse_wall(std::string_view text) {
  if (!has_shape(text)) {
    return Error(ErrorCode::kMalformed, "time: not of the form YYYY-MM-DDThh:mm:ss.nnnnnnnnnZ");
  }
  const Date date{read_digits(text, 0, 4), read_digits(text, 5, 2), read_digits(text, 8, 2)};
  if (date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > days_in_month(date.year, date.month)) {
    return Error(ErrorCode::kMalformed, "time: no such date");
  }
  const std::int64_t hour = read_digits(text, 11, 2);
  const std::int64_t minute = read_digits(text, 14, 2);
  const std::int64_t second = read_digits(text, 17, 2);
  if (hour > 23 || minute > 59 || second > 59) {
    return Error(ErrorCode::kMalformed, "time: no such time of day");
  }
  const std::int64_t nanos = read_digits(text, 20, 9);
  const std::int64_t seconds =
      days_from_date(date) * kSecondsPerDay + hour * 3600 + minute * 60 + second;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (seconds < 0 || seconds > (kMax - nanos) / kNanosPerSecond) {
    return Error(ErrorCode::kMalformed, "time: before 1970 or past 2262-04-11, the range stored");
  }
  return seconds * kNanosPerSecond + nanos;
}

}  // namespace aasm::schema
