#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "aasm/ledger_format/receipt.h"

// A receipt has one spelling: whatever parses is written back to the same bytes.
// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace format = aasm::ledger_format;
  const std::string_view text = aasm::schema::as_text({data, size});
  const auto receipt = format::parse_receipt(text);
  if (!receipt.has_value()) {
    return 0;
  }
  const auto again = format::format_receipt(*receipt);
  if (!again.has_value() || *again != text) {
    std::abort();
  }
  return 0;
}
