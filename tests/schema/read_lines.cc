#include <iostream>
#include <string>
#include <string_view>
#include <variant>

#include "aasm/ledger_format/envelope.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/record.h"

// For each line of standard input, "KIND BODY" or "payload PAYLOAD", one line: "ok", or what the
// reader of the library refuses it for.
namespace {

namespace format = aasm::ledger_format;
namespace schema = aasm::schema;

std::string read_payload(std::string_view payload) {
  const auto parsed = format::parse_payload(payload);
  const auto* fault = std::get_if<format::PayloadFault>(&parsed);
  return fault == nullptr ? "ok" : std::string(format::to_string(fault->fault));
}

std::string read_body(std::string_view kind, std::string_view text) {
  const auto json = schema::json_parse(text);
  if (!json) {
    return json.error().message();
  }
  const auto body = schema::read_body(kind, *json);
  if (!body) {
    return body.error().message();
  }
  return body->has_value() ? "ok" : "unknown kind";
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string_view text = line;
    const std::size_t space = text.find(' ');
    const std::string_view kind = text.substr(0, space);
    const std::string_view rest = space == std::string_view::npos ? "" : text.substr(space + 1);
    std::cout << (kind == "payload" ? read_payload(rest) : read_body(kind, rest)) << '\n';
  }
  return 0;
}
