#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <variant>

#include "aasm/ledger_format/envelope.h"

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
  const auto built = format::build_payload(statement->envelope, statement->body);
  // One that is not canonical may have been shorter than its canonical form, hence past the limit.
  if (statement->canonical && (!built.has_value() || *built != text)) {
    std::abort();
  }
  return 0;
}
