#include "audit_text.h"

#include <algorithm>
#include <charconv>

namespace aasm::backend_native::audit {
namespace {

constexpr std::int64_t kMaxDenials = std::int64_t{1} << 50U;  // a record's sums hold several

// What the kernel writes: names that hold anything else are in hexadecimal.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() ? std::optional<T>(value)
                                                                  : std::nullopt;
}

// Up to `end`, which is taken too; all that is left where it does not stand.
std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

// "audit(1795961345.243:5): "
bool take_stamp(std::string_view& text, Record& record) {
  constexpr std::string_view kBegin = "audit(";
  if (!text.starts_with(kBegin)) {
    return false;
  }
  text.remove_prefix(kBegin.size());
  const auto seconds = number<std::int64_t>(take_until(text, '.'));
  const auto millis = number<std::int64_t>(take_until(text, ':'));
  const auto serial = number<std::uint64_t>(take_until(text, ')'));
  constexpr std::int64_t kLatest = INT64_MAX / 1000 - 1;
  if (!seconds || !millis || !serial || *seconds < 0 || *seconds > kLatest || *millis < 0 ||
      *millis > 999 || !text.starts_with(": ")) {
    return false;
  }
  text.remove_prefix(2);
  record.time_ms = *seconds * 1000 + *millis;
  record.serial = *serial;
  return true;
}

struct Field {
  std::string_view key;
  std::string_view value;
};

// No value holds a space: the kernel writes those that would in hexadecimal.
std::optional<Field> take_field(std::string_view& text) {
  while (!text.empty()) {
    std::string_view word = take_until(text, ' ');
    if (!word.empty()) {
      const std::string_view key = take_until(word, '=');
      return Field{key, word};
    }
  }
  return std::nullopt;
}

// A name as audit_log_untrustedstring() writes it: in quotes, or in hexadecimal where it holds a
// quote, a space, a control character or what is no ASCII. nullopt: "(null)" and the like.
std::optional<std::string> name_of(std::string_view value) {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    return std::string(value.substr(1, value.size() - 2));
  }
  std::string bytes;
  for (std::size_t i = 0; i < value.size(); i += 2) {
    const auto byte = number<std::uint8_t>(value.substr(i, 2), 16);
    if (!byte || *byte == 0 || i + 1 >= value.size()) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(*byte));
  }
  return bytes.empty() ? std::nullopt : std::optional<std::string>(std::move(bytes));
}

void add_detail(Denial& denial, const Field& field) {
  const std::size_t room = kMaxTextBytes - denial.detail.size();
  std::string text = denial.detail.empty() ? "" : " ";
  text.append(field.key).append("=").append(field.value);
  denial.detail += text.substr(0, room);
}

std::optional<Denial> read_denial(std::uint64_t domain, std::string_view text) {
  Denial denial;
  denial.domain = domain;
  std::optional<Field> field = take_field(text);
  if (!field || field->key != "blockers" || field->value.empty()) {
    return std::nullopt;
  }
  denial.blockers = field->value.substr(0, kMaxTextBytes);
  const bool file = denial.blockers.starts_with("fs.");
  while ((field = take_field(text))) {
    if (file && field->key == "path") {
      denial.path = name_of(field->value);
    } else if (file && field->key == "dev") {
      denial.device = field->value.starts_with('"') ? name_of(field->value).value_or("") : "";
    } else if (file && field->key == "ino") {
      denial.inode = number<std::uint64_t>(field->value);
    } else {
      add_detail(denial, *field);
    }
  }
  return denial;
}

std::optional<std::variant<Denial, DomainMade, DomainEnded>> read_domain(std::uint64_t domain,
                                                                         std::string_view text) {
  std::string_view status;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> denials;
  while (const std::optional<Field> field = take_field(text)) {
    if (field->key == "status" && status.empty()) {
      status = field->value;
    } else if (field->key == "pid" && !pid) {
      pid = number<std::int64_t>(field->value);
    } else if (field->key == "denials" && !denials) {
      denials = number<std::int64_t>(field->value);
    }
  }
  if (status == "allocated" && pid && *pid > 0) {
    return DomainMade{domain, *pid};
  }
  if (status == "deallocated" && denials && *denials >= 0 && *denials <= kMaxDenials) {
    return DomainEnded{domain, *denials};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Record> read_record(std::uint16_t type, std::string_view text) {
  Record record;
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) {
    text.remove_suffix(1);
  }
  if (!is_plain(text)) {
    return std::nullopt;
  }
  if ((type != kLandlockAccess && type != kLandlockDomain) || !take_stamp(text, record)) {
    return std::nullopt;
  }
  const std::optional<Field> first = take_field(text);
  const auto domain =
      first && first->key == "domain" ? number<std::uint64_t>(first->value, 16) : std::nullopt;
  if (!domain) {
    return std::nullopt;
  }
  if (type == kLandlockDomain) {
    auto said = read_domain(*domain, text);
    if (said) {
      record.said = std::move(*said);
    }
    return said ? std::optional<Record>(std::move(record)) : std::nullopt;
  }
  std::optional<Denial> denial = read_denial(*domain, text);
  if (!denial) {
    return std::nullopt;
  }
  record.said = std::move(*denial);
  return record;
}

}  // namespace aasm::backend_native::audit
