#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "aasm/ledger_format/trust.h"

// Both trust files: what parses keeps its meaning when it is written and read again.
// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace format = aasm::ledger_format;
  const std::string_view text = aasm::schema::as_text({data, size});
  const auto policy = format::parse_trust_policy(text);
  if (policy.has_value()) {
    const std::string written = format::format_trust_policy(*policy);
    const auto again = format::parse_trust_policy(written);
    if (!again.has_value() || format::format_trust_policy(*again) != written) {
      std::abort();
    }
  }
  const auto keys = format::parse_trust_keys(text);
  if (keys.has_value()) {
    const std::string written = format::format_trust_keys(*keys);
    const auto again = format::parse_trust_keys(written);
    if (!again.has_value() || format::format_trust_keys(*again) != written) {
      std::abort();
    }
  }
  return 0;
}
