#include "aasm/ledger_format/vkey.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "aasm/crypto/ed25519.h"
#include "aasm/crypto/hash.h"
#include "aasm/schema/base64.h"
#include "aasm/schema/hex.h"
#include "aasm/schema/utf8.h"

#include "text.h"

namespace aasm::ledger_format {
namespace {

// The characters past ASCII that Unicode calls White_Space, in UTF-8.
constexpr std::array<std::string_view, 19> kUnicodeSpaces = {
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
    "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
    "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
    "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};

constexpr std::size_t kKeyNameMaxBytes = 255;

std::optional<NoteKeyType> key_type_of(std::uint8_t byte) {
  for (const NoteKeyType type : {NoteKeyType::kEd25519, NoteKeyType::kCosignature}) {
    if (byte == static_cast<std::uint8_t>(type)) {
      return type;
    }
  }
  return std::nullopt;
}

using TypedKey = std::array<std::uint8_t, 33>;

TypedKey typed_key(NoteKeyType type, const schema::PublicKey& key) {
  TypedKey bytes{};
  bytes[0] = static_cast<std::uint8_t>(type);
  std::copy(key.bytes.begin(), key.bytes.end(), bytes.begin() + 1);
  return bytes;
}

std::string hex_key_id(std::uint32_t id) {
  const std::array<std::uint8_t, 4> bytes = {
      static_cast<std::uint8_t>(id >> 24), static_cast<std::uint8_t>(id >> 16),
      static_cast<std::uint8_t>(id >> 8), static_cast<std::uint8_t>(id)};
  return schema::to_hex(bytes);
}

}  // namespace

VerifierKey::VerifierKey(std::string name, NoteKeyType type, const schema::PublicKey& key)
    : name_(std::move(name)),
      type_(type),
      public_key_(key),
      note_key_id_(ledger_format::note_key_id(name_, type, key)) {}

schema::Result<VerifierKey> VerifierKey::make(std::string_view name, NoteKeyType type,
                                              const schema::PublicKey& key) {
  if (!is_key_name(name)) {
    return detail::invalid("not a key name");
  }
  if (!crypto::is_acceptable_public_key(key)) {
    return detail::invalid("not an acceptable Ed25519 public key");
  }
  return VerifierKey(std::string(name), type, key);
}

schema::Result<VerifierKey> VerifierKey::parse(std::string_view text) {
  // Names hold no plus sign but base64 may, so the first two separate.
  const std::size_t first = text.find('+');
  const std::size_t second = first == std::string_view::npos ? first : text.find('+', first + 1);
  if (second == std::string_view::npos) {
    return detail::malformed("a verifier key is <name>+<key id>+<base64 key>");
  }
  const std::string_view name = text.substr(0, first);
  if (!is_key_name(name)) {
    return detail::malformed("the name of a verifier key is no key name");
  }
  const schema::Bytes bytes =
      AASM_TRY_CONTEXT(schema::from_base64(text.substr(second + 1)), "the key of a verifier key");
  if (bytes.empty()) {
    return detail::malformed("a verifier key without a key");
  }
  const std::optional<NoteKeyType> type = key_type_of(bytes.front());
  if (!type) {
    return schema::Error(schema::ErrorCode::kUnsupported,
                         "signature type " + std::to_string(bytes.front()) + " of a verifier key");
  }
  const schema::PublicKey key = AASM_TRY_CONTEXT(
      schema::PublicKey::from_span(schema::ByteView(bytes).subspan(1)), "a verifier key");
  if (!crypto::is_acceptable_public_key(key)) {
    return detail::malformed("a verifier key of small order or in a non-canonical encoding");
  }
  VerifierKey result(std::string(name), *type, key);
  if (text.substr(first + 1, second - first - 1) != hex_key_id(result.note_key_id_)) {
    return detail::malformed("the key id of a verifier key does not belong to its name and key");
  }
  return result;
}

std::string VerifierKey::text() const {
  return name_ + "+" + hex_key_id(note_key_id_) + "+" +
         schema::to_base64(typed_key(type_, public_key_));
}

std::uint32_t note_key_id(std::string_view name, NoteKeyType type, const schema::PublicKey& key) {
  crypto::Sha256Hasher hasher;
  hasher.update(schema::as_bytes(name)).update(schema::as_bytes("\n"));
  const schema::Sha256 digest = hasher.update(typed_key(type, key)).finish();
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    id = (id << 8) | digest.bytes[i];
  }
  return id;
}

bool is_key_name(std::string_view name) {
  if (name.empty() || name.size() > kKeyNameMaxBytes || !schema::is_valid_utf8(name)) {
    return false;
  }
  const bool ascii_ok = std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && c != '+';
  });
  // Valid UTF-8 is self-synchronising, so a byte search finds characters only.
  return ascii_ok &&
         std::none_of(kUnicodeSpaces.begin(), kUnicodeSpaces.end(), [name](std::string_view space) {
           return name.find(space) != std::string_view::npos;
         });
}

}  // namespace aasm::ledger_format
