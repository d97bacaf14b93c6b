#include <limits>

#include "aasm/ledger_format/note.h"

namespace aasm::ledger_format {
namespace {

constexpr std::size_t kTimestampBytes = 8;

bool verify_plain(const Note& note, const NoteSignature& signature, const VerifierKey& key) {
  return crypto::verify(key.public_key(), schema::as_bytes(note.text), signature.signature);
}

bool verify_cosignature(const Note& note, const NoteSignature& signature, const VerifierKey& key) {
  const std::optional<std::uint64_t> time = cosignature_time(signature);
  if (!time) {
    return false;
  }
  const std::string message = "cosignature/v1\ntime " + std::to_string(*time) + "\n" + note.text;
  return crypto::verify(key.public_key(), schema::as_bytes(message),
                        schema::ByteView(signature.signature).subspan(kTimestampBytes));
}

bool verify_one(const Note& note, const NoteSignature& signature, const VerifierKey& key) {
  switch (key.type()) {
    case NoteKeyType::kEd25519:
      return verify_plain(note, signature, key);
    case NoteKeyType::kCosignature:
      return verify_cosignature(note, signature, key);
  }
  return false;
}

}  // namespace

NoteVerdict verify_note(const Note& note, const VerifierKey& key) {
  NoteVerdict verdict = NoteVerdict::kNoSignature;
  for (const NoteSignature& signature : note.signatures) {
    if (signature.name != key.name() || signature.note_key_id != key.note_key_id()) {
      continue;
    }
    if (!verify_one(note, signature, key)) {
      return NoteVerdict::kBadSignature;
    }
    verdict = NoteVerdict::kVerified;
  }
  return verdict;
}

std::optional<std::uint64_t> cosignature_time(const NoteSignature& signature) {
  if (signature.signature.size() != kTimestampBytes + crypto::kSignatureBytes) {
    return std::nullopt;
  }
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < kTimestampBytes; ++i) {
    time = (time << 8) | signature.signature[i];
  }
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (time > kMax) {
    return std::nullopt;
  }
  return time;
}

}  // namespace aasm::ledger_format
