#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "aasm/ledger_format/note.h"

// Notes, checkpoints and verifier keys have one spelling each: whatever parses is written back to
// the same bytes.
// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer asks for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace format = aasm::ledger_format;
  const std::string_view text = aasm::schema::as_text({data, size});
  const auto note = format::parse_note(text);
  if (note.has_value()) {
    if (format::format_note(*note) != text) {
      std::abort();
    }
    const auto checkpoint = format::parse_checkpoint(note->text);
    if (checkpoint.has_value() && format::format_checkpoint(*checkpoint) != note->text) {
      std::abort();
    }
    if (checkpoint.has_value() != format::parse_signed_checkpoint(text).has_value()) {
      std::abort();
    }
  }
  const auto key = format::VerifierKey::parse(text);
  if (key.has_value() && key->text() != text) {
    std::abort();
  }
  return 0;
}
