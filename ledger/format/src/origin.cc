#include "aasm/ledger_format/origin.h"

#include <algorithm>
#include <string>

#include "aasm/schema/uuid.h"

#include "text.h"

namespace aasm::ledger_format {
namespace {

constexpr std::string_view kMiddle = "/ledger/";
constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kOriginMaxBytes = 255;

bool is_lower_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}
bool is_label_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
         std::all_of(label.begin(), label.end(), is_label_char);
}

bool is_domain(std::string_view domain) {
  while (true) {
    const std::size_t dot = domain.find('.');
    if (!is_label(domain.substr(0, dot))) {
      return false;
    }
    if (dot == std::string_view::npos) {
      return true;
    }
    domain.remove_prefix(dot + 1);
  }
}

}  // namespace

schema::Result<void> check_origin(std::string_view origin) {
  if (origin.substr(0, 6) == "DSSEv1") {
    return detail::malformed("an origin may not begin with DSSEv1");
  }
  if (origin.size() > kOriginMaxBytes) {
    return detail::malformed("an origin has at most 255 bytes");
  }
  const std::size_t slash = origin.find('/');
  if (slash == std::string_view::npos || origin.substr(slash, kMiddle.size()) != kMiddle) {
    return detail::malformed("an origin is <domain>/ledger/<16 hex digits>");
  }
  const std::string_view id = origin.substr(slash + kMiddle.size());
  if (id.size() != kIdDigits || !std::all_of(id.begin(), id.end(), is_lower_hex)) {
    return detail::malformed("an origin ends in 16 lower-case hex digits");
  }
  if (!is_domain(origin.substr(0, slash))) {
    return detail::malformed("an origin begins with a lower-case host name");
  }
  return {};
}

schema::Result<std::string> make_origin(std::string_view domain,
                                        std::span<const std::uint8_t, 16> random) {
  std::string origin(domain);
  for (char& c : origin) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  std::string digits = schema::make_uuid4(random);
  digits.erase(std::remove(digits.begin(), digits.end(), '-'), digits.end());
  origin += kMiddle;
  origin += digits.substr(0, kIdDigits);
  if (!check_origin(origin)) {
    return detail::invalid("the domain of an origin must be a host name");
  }
  return origin;
}

}  // namespace aasm::ledger_format
