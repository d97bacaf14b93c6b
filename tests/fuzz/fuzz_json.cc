#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "aasm/schema/digest.h"
#include "aasm/schema/json_parse.h"
#include "aasm/schema/json_write.h"

// The quick reader of canonical text takes what the strict one takes and finds canonical, and says
// the same. Whatever parses, written and parsed again, is the same value in canonical form. Members
// are compared by writing both, for the first text may have them in another order.
// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace schema = aasm::schema;
  const std::string_view input = schema::as_text({data, size});
  const auto value = schema::json_parse(input);
  const auto quick = schema::json_parse_canonical(input);
  if (quick.has_value() != (value.has_value() && schema::json_is_canonical(input, *value)) ||
      (quick.has_value() && !(*quick == *value))) {
    std::abort();
  }
  if (!value.has_value()) {
    if (value.error().code() != schema::ErrorCode::kMalformed) {
      std::abort();
    }
    return 0;
  }
  const std::string text = schema::json_write(*value);
  const auto again = schema::json_parse(text);
  if (!again.has_value() || !schema::json_is_canonical(text, *again)) {
    std::abort();
  }
  // Canonical input must come back with its members in the same order: equal as it stands.
  if (text == input && !(*again == *value)) {
    std::abort();
  }
  return 0;
}
