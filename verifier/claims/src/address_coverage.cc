#include "address_coverage.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/address_range.h"

namespace aasm::claims {
namespace {

using schema::AddressRange;
using schema::SelectorType;

// An address, or the leading bits of a range of them. IPv4 that is mapped into IPv6 is IPv4.
std::optional<AddressRange> parse_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  std::optional<AddressRange> range = schema::parse_address(text.substr(0, slash));
  if (!range) {
    return std::nullopt;
  }
  if (slash != std::string_view::npos) {
    const std::optional<int> bits =
        schema::parse_plain_decimal(text.substr(slash + 1), range->width());
    if (!bits) {
      return std::nullopt;
    }
    range->bits = *bits;
  }
  return schema::without_mapping(*range);
}

// What a selector says, cut apart. `port` and `protocol` absent: any.
struct Statement {
  std::string_view host;
  std::optional<int> port;
  std::optional<std::string_view> protocol;
};

// nullopt: a text that no policy lowers to.
std::optional<Statement> cut(SelectorType type, std::string_view text) {
  Statement statement;
  if (type == SelectorType::kAddressRange) {
    const std::size_t slash = text.rfind('/');
    if (slash == std::string_view::npos) {
      return std::nullopt;
    }
    statement.protocol = text.substr(slash + 1);
    text = text.substr(0, slash);
  } else if (type == SelectorType::kHostPattern) {
    statement.protocol = "tcp";
  }
  const std::size_t colon = text.rfind(':');
  const std::size_t bracket = text.rfind(']');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket)) {
    statement.host = text;
    return statement;
  }
  statement.port = schema::parse_plain_decimal(text.substr(colon + 1), 65535);
  statement.host = text.substr(0, colon);
  return statement.port ? std::optional<Statement>(statement) : std::nullopt;
}

// No address has a length of its own in its bytes, and the rest is the name.
std::string answer_key(const std::string& name, const AddressRange& address) {
  std::string key(1, address.v6 ? '6' : '4');
  key.append(address.bytes.begin(), address.bytes.end());
  return key + name;
}

Coverage was_given(const std::string& name, const AddressRange& address,
                   const NameAnswers* answers) {
  if (answers == nullptr) {
    return Coverage::kNotCovered;
  }
  if (answers->kept.contains(answer_key(name, address))) {
    return Coverage::kCovered;
  }
  return answers->are_all() ? Coverage::kNotCovered : Coverage::kUndecided;
}

}  // namespace

void note_answers(const schema::EventObject& lookup, NameAnswers& answers) {
  answers.unlisted = answers.unlisted || lookup.type == schema::ObjectType::kUnlisted;
  for (const std::string& text : lookup.answers.value_or(std::vector<std::string>())) {
    const std::optional<AddressRange> address =
        text.find('/') == std::string::npos ? parse_range(text) : std::nullopt;
    if (address && answers.kept.size() < kMostNameAnswers) {
      answers.kept.insert(answer_key(lookup.name, *address));
    }
  }
}

Coverage covers_address(const schema::Selector& selector, const schema::EventObject& object,
                        const NameAnswers* answers) {
  const std::optional<AddressRange> address =
      object.address && object.address->find('/') == std::string::npos
          ? parse_range(*object.address)
          : std::nullopt;
  if (!address) {
    return Coverage::kNotCovered;
  }
  const std::optional<Statement> statement = cut(selector.type, selector.value.bytes());
  if (!statement) {
    return Coverage::kUndecided;
  }
  if ((statement->port && *statement->port != object.port) ||
      (statement->protocol && *statement->protocol != object.protocol)) {
    return Coverage::kNotCovered;
  }
  std::string_view host = statement->host;
  if (host == "*") {
    return Coverage::kCovered;
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  const std::optional<AddressRange> range = parse_range(host);
  if (!range && host.find('/') != std::string_view::npos) {
    return Coverage::kUndecided;
  }
  if (!range) {
    return host_matches(host, object.name) ? was_given(object.name, *address, answers)
                                           : Coverage::kNotCovered;
  }
  return schema::range_contains(*range, *address) ? Coverage::kCovered : Coverage::kNotCovered;
}

}  // namespace aasm::claims
