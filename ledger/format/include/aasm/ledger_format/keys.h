#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/crypto/ed25519.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

// docs/spec/ledger-format.md section 5: the three statements about keys and the bytes they sign.
// Pure. Origins are taken as they are; callers have checked them.
namespace aasm::ledger_format {

enum class KeyPurpose : std::uint8_t { kHost, kLog };
std::string_view to_string(KeyPurpose purpose);                      // "host", "log"
std::optional<KeyPurpose> parse_key_purpose(std::string_view text);  // exactly those

// SHA-256 of the 32 bytes of the public key.
schema::KeyId key_id(const schema::PublicKey& key);

// "The root says that `subject` is this origin's key for `purpose`."
std::string certificate_message(std::string_view origin, KeyPurpose purpose,
                                const schema::PublicKey& subject);
schema::Result<crypto::Signature> sign_certificate(const crypto::SigningKey& root,
                                                   std::string_view origin, KeyPurpose purpose,
                                                   const schema::PublicKey& subject);
bool verify_certificate(const schema::PublicKey& root, std::string_view origin, KeyPurpose purpose,
                        const schema::PublicKey& subject, schema::ByteView signature);

// "I, the new key, take over from the old one": signed by the new key.
std::string rotation_message(std::string_view origin, const schema::PublicKey& old_key,
                             const schema::PublicKey& new_key);
schema::Result<crypto::Signature> sign_rotation(const crypto::SigningKey& new_key,
                                                std::string_view origin,
                                                const schema::PublicKey& old_key);
bool verify_rotation(std::string_view origin, const schema::PublicKey& old_key,
                     const schema::PublicKey& new_key, schema::ByteView signature);

// "The root says that records by this key at or after index `limit` do not count." `limit` is a
// tree size.
std::string revocation_message(std::string_view origin, const schema::KeyId& key,
                               std::uint64_t limit);
schema::Result<crypto::Signature> sign_revocation(const crypto::SigningKey& root,
                                                  std::string_view origin, const schema::KeyId& key,
                                                  std::uint64_t limit);
bool verify_revocation(const schema::PublicKey& root, std::string_view origin,
                       const schema::KeyId& key, std::uint64_t limit, schema::ByteView signature);

}  // namespace aasm::ledger_format
