#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <variant>

#include "aasm/ledger_format/envelope.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/record.h"

namespace {

// What a body of a known kind reads to is written and read again without a loss.
void check_body(const aasm::ledger_format::Statement& statement) {
  namespace schema = aasm::schema;
  const auto body = schema::read_body(statement.envelope.kind, statement.body);
  if (!body.has_value() || !body->has_value()) {
    return;
  }
  const schema::JsonValue written = schema::write_body(**body);
  const auto again = schema::read_body(statement.envelope.kind, written);
  if (!again.has_value() || !again->has_value() ||
      schema::json_write(schema::write_body(**again)) != schema::json_write(written)) {
    std::abort();
  }
}

}  // namespace

// A payload that parses and is canonical is the one that its fields build.
// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace format = aasm::ledger_format;
  const std::string_view text = aasm::schema::as_text({data, size});
  const auto parsed = format::parse_payload(text);
  const auto* statement = std::get_if<format::Statement>(&parsed);
  if (statement == nullptr) {
    return 0;
  }
  check_body(*statement);
  const auto built = format::build_payload(statement->envelope, statement->body);
  // One that is not canonical may have been shorter than its canonical form, hence past the limit.
  if (statement->canonical && (!built.has_value() || *built != text)) {
    std::abort();
  }
  return 0;
}
