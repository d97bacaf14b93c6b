#include "aasm/ledger_format/note.h"

#include <algorithm>

#include "aasm/schema/base64.h"
#include "aasm/schema/utf8.h"

#include "text.h"

namespace aasm::ledger_format {
namespace {

constexpr std::string_view kSignaturePrefix = "\xE2\x80\x94 ";  // em dash, space

bool has_forbidden_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n'; });
}

schema::Result<NoteSignature> parse_signature_line(std::string_view line) {
  if (line.substr(0, kSignaturePrefix.size()) != kSignaturePrefix) {
    return detail::malformed("a signature line begins with an em dash and a space");
  }
  line.remove_prefix(kSignaturePrefix.size());
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos || !is_key_name(line.substr(0, space))) {
    return detail::malformed("a signature line is a key name, a space and base64");
  }
  const schema::Bytes bytes =
      AASM_TRY_CONTEXT(schema::from_base64(line.substr(space + 1)), "a note signature");
  if (bytes.size() < 5) {
    return detail::malformed("a note signature is a four-byte key id and a signature");
  }
  NoteSignature signature;
  signature.name = line.substr(0, space);
  for (std::size_t i = 0; i < 4; ++i) {
    signature.note_key_id = (signature.note_key_id << 8) | bytes[i];
  }
  signature.signature.assign(bytes.begin() + 4, bytes.end());
  return signature;
}

}  // namespace

schema::Result<Note> parse_note(std::string_view bytes) {
  if (bytes.size() > kNoteMaxBytes) {
    return detail::malformed("a note of more than " + std::to_string(kNoteMaxBytes) + " bytes");
  }
  if (!schema::is_valid_utf8(bytes) || has_forbidden_control(bytes)) {
    return detail::malformed("a note that is no UTF-8 text or holds control characters");
  }
  const std::size_t split = bytes.rfind("\n\n");
  if (split == std::string_view::npos) {
    return detail::malformed("a note without a blank line before its signatures");
  }
  Note note;
  note.text = bytes.substr(0, split + 1);
  std::string_view rest = bytes.substr(split + 2);
  while (const std::optional<std::string_view> line = detail::take_line(rest)) {
    if (note.signatures.size() == kNoteMaxSignatures) {
      return detail::malformed("a note with more than " + std::to_string(kNoteMaxSignatures) +
                               " signatures");
    }
    note.signatures.push_back(AASM_TRY(parse_signature_line(*line)));
  }
  if (!rest.empty()) {
    return detail::malformed("bytes after the last signature line of a note");
  }
  if (note.signatures.empty()) {
    return detail::malformed("a note without signatures");
  }
  return note;
}

std::string format_note(const Note& note) {
  std::string out = note.text + "\n";
  for (const NoteSignature& signature : note.signatures) {
    const std::uint32_t id = signature.note_key_id;
    schema::Bytes bytes = {static_cast<std::uint8_t>(id >> 24), static_cast<std::uint8_t>(id >> 16),
                           static_cast<std::uint8_t>(id >> 8), static_cast<std::uint8_t>(id)};
    bytes.insert(bytes.end(), signature.signature.begin(), signature.signature.end());
    out += kSignaturePrefix;
    out += signature.name + " " + schema::to_base64(bytes) + "\n";
  }
  return out;
}

schema::Result<NoteSignature> sign_note(std::string_view text, std::string_view name,
                                        const crypto::SigningKey& key) {
  if (text.empty() || text.back() != '\n' || !schema::is_valid_utf8(text) ||
      has_forbidden_control(text)) {
    return detail::invalid("the text of a note is UTF-8 lines, the last one ended");
  }
  if (!is_key_name(name)) {
    return detail::invalid("a note is signed under a key name");
  }
  const crypto::Signature signature = AASM_TRY(key.sign(schema::as_bytes(text)));
  return NoteSignature{std::string(name),
                       note_key_id(name, NoteKeyType::kEd25519, key.public_key()),
                       schema::Bytes(signature.begin(), signature.end())};
}

}  // namespace aasm::ledger_format
