#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

namespace aasm::ledger_format {

// Signature types of C2SP signed-note that we verify. Values are the type byte of the format.
enum class NoteKeyType : std::uint8_t {
  kEd25519 = 0x01,      // over the note text: logs and roots
  kCosignature = 0x04,  // Ed25519 over "cosignature/v1": witnesses (c2sp.org/tlog-cosignature)
};

// A C2SP verifier key, "<name>+<8 hex key id>+<base64(type || public key)>". Valid by
// construction: the key id belongs to the rest, the name is a key name, and the public key passed
// crypto::is_acceptable_public_key().
class VerifierKey {
 public:
  // kMalformed for any other spelling; kUnsupported for another signature type.
  static schema::Result<VerifierKey> parse(std::string_view text);
  // kInvalidArgument when `name` is no key name or the key is not acceptable.
  static schema::Result<VerifierKey> make(std::string_view name, NoteKeyType type,
                                          const schema::PublicKey& key);

  const std::string& name() const { return name_; }
  NoteKeyType type() const { return type_; }
  const schema::PublicKey& public_key() const { return public_key_; }
  // The four bytes of the key id, read big-endian.
  std::uint32_t note_key_id() const { return note_key_id_; }
  std::string text() const;

  bool operator==(const VerifierKey&) const = default;

 private:
  VerifierKey(std::string name, NoteKeyType type, const schema::PublicKey& key);

  std::string name_;
  NoteKeyType type_;
  schema::PublicKey public_key_;
  std::uint32_t note_key_id_;
};

// SHA-256(name || "\n" || type || public key)[:4], big-endian.
std::uint32_t note_key_id(std::string_view name, NoteKeyType type, const schema::PublicKey& key);

// A C2SP key name: valid UTF-8, not empty, at most 255 bytes, without Unicode spaces, control
// characters or plus signs. Our own origins obey more, see origin.h.
bool is_key_name(std::string_view name);

}  // namespace aasm::ledger_format
