#include <optional>

#include "aasm/ledger_format/note.h"
#include "aasm/schema/base64.h"

#include "text.h"

namespace aasm::ledger_format {

std::string format_checkpoint(const Checkpoint& checkpoint) {
  return checkpoint.origin + "\n" + std::to_string(checkpoint.size) + "\n" +
         schema::to_base64(checkpoint.root.bytes) + "\n";
}

schema::Result<Checkpoint> parse_checkpoint(std::string_view text) {
  const std::optional<std::string_view> origin = detail::take_line(text);
  const std::optional<std::string_view> size = detail::take_line(text);
  const std::optional<std::string_view> root = detail::take_line(text);
  if (!origin || !size || !root || !text.empty()) {
    return detail::malformed("a checkpoint has exactly three lines");
  }
  if (!is_key_name(*origin)) {
    return detail::malformed("the origin of a checkpoint is no key name");
  }
  const std::optional<std::uint64_t> number = detail::parse_decimal(*size);
  if (!number) {
    return detail::malformed("the size of a checkpoint is no decimal number");
  }
  const schema::Bytes root_bytes =
      AASM_TRY_CONTEXT(schema::from_base64(*root), "the root of a checkpoint");
  Checkpoint checkpoint;
  checkpoint.origin = *origin;
  checkpoint.size = *number;
  checkpoint.root =
      AASM_TRY_CONTEXT(schema::TreeHash::from_span(root_bytes), "the root of a checkpoint");
  return checkpoint;
}

schema::Result<std::string> sign_checkpoint(const Checkpoint& checkpoint,
                                            const crypto::SigningKey& key) {
  Note note;
  note.text = format_checkpoint(checkpoint);
  note.signatures.push_back(AASM_TRY(sign_note(note.text, checkpoint.origin, key)));
  return format_note(note);
}

schema::Result<SignedCheckpoint> parse_signed_checkpoint(std::string_view bytes) {
  SignedCheckpoint result;
  result.note = AASM_TRY(parse_note(bytes));
  result.checkpoint = AASM_TRY(parse_checkpoint(result.note.text));
  return result;
}

}  // namespace aasm::ledger_format
