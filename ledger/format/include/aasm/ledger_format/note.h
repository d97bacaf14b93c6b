#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/crypto/ed25519.h"
#include "aasm/ledger_format/vkey.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

// C2SP signed notes and checkpoints (c2sp.org/signed-note, c2sp.org/tlog-checkpoint);
// docs/spec/ledger-format.md section 6. Pure.
namespace aasm::ledger_format {

inline constexpr std::size_t kNoteMaxBytes = 65536;
inline constexpr std::size_t kNoteMaxSignatures = 64;

// The text of a checkpoint: "<origin>\n<size>\n<base64 root>\n". We neither write nor accept
// extension lines. The origin is any C2SP key name here; see check_origin() for our own shape.
struct Checkpoint {
  std::string origin;
  std::uint64_t size = 0;
  schema::TreeHash root;

  bool operator==(const Checkpoint&) const = default;
};

std::string format_checkpoint(const Checkpoint& checkpoint);
schema::Result<Checkpoint> parse_checkpoint(std::string_view text);

struct NoteSignature {
  std::string name;
  std::uint32_t note_key_id = 0;
  schema::Bytes signature;  // at least one byte; its form depends on the key's type

  bool operator==(const NoteSignature&) const = default;
};

// A note split into its text (with the final newline) and signature lines. Nothing in it has been
// verified. format_note(parse_note(x)) == x for every x that parses.
struct Note {
  std::string text;
  std::vector<NoteSignature> signatures;

  bool operator==(const Note&) const = default;
};

// kMalformed for anything but text, blank line, one or more signature lines, nothing after.
schema::Result<Note> parse_note(std::string_view bytes);
std::string format_note(const Note& note);

enum class NoteVerdict : std::uint8_t {
  kVerified,      // at least one signature by this key, and all of them good
  kNoSignature,   // none carries this key's name and id: says nothing about the note
  kBadSignature,  // one carries them and does not verify: the note must be rejected
};

// Judges the signatures that name `key` (kEd25519 or kCosignature); all others are ignored.
NoteVerdict verify_note(const Note& note, const VerifierKey& key);

// The signature line of `key` under `name` over the note text.
schema::Result<NoteSignature> sign_note(std::string_view text, std::string_view name,
                                        const crypto::SigningKey& key);

// The whole signed checkpoint as bytes, ready to store.
schema::Result<std::string> sign_checkpoint(const Checkpoint& checkpoint,
                                            const crypto::SigningKey& key);

// A stored note parsed both ways: what a reader of checkpoints wants.
struct SignedCheckpoint {
  Checkpoint checkpoint;
  Note note;
};
schema::Result<SignedCheckpoint> parse_signed_checkpoint(std::string_view bytes);

// The seconds since the epoch that a cosignature/v1 signature claims; nullopt when it has not the
// form of one. Meaningful only after verify_note() with that key.
std::optional<std::uint64_t> cosignature_time(const NoteSignature& signature);

}  // namespace aasm::ledger_format
