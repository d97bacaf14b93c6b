#include "aasm/ledger_format/keys.h"

#include "aasm/crypto/hash.h"

namespace aasm::ledger_format {

std::string_view to_string(KeyPurpose purpose) {
  switch (purpose) {
    case KeyPurpose::kHost:
      return "host";
    case KeyPurpose::kLog:
      return "log";
  }
  return {};
}

std::optional<KeyPurpose> parse_key_purpose(std::string_view text) {
  for (const KeyPurpose purpose : {KeyPurpose::kHost, KeyPurpose::kLog}) {
    if (text == to_string(purpose)) {
      return purpose;
    }
  }
  return std::nullopt;
}

schema::KeyId key_id(const schema::PublicKey& key) {
  return {crypto::sha256(key.view()).bytes};
}

std::string certificate_message(std::string_view origin, KeyPurpose purpose,
                                const schema::PublicKey& subject) {
  return "aasm.cert.v1\n" + std::string(origin) + "\n" + std::string(to_string(purpose)) + "\n" +
         subject.hex();
}

schema::Result<crypto::Signature> sign_certificate(const crypto::SigningKey& root,
                                                   std::string_view origin, KeyPurpose purpose,
                                                   const schema::PublicKey& subject) {
  return root.sign(schema::as_bytes(certificate_message(origin, purpose, subject)));
}

bool verify_certificate(const schema::PublicKey& root, std::string_view origin, KeyPurpose purpose,
                        const schema::PublicKey& subject, schema::ByteView signature) {
  return crypto::verify(root, schema::as_bytes(certificate_message(origin, purpose, subject)),
                        signature);
}

std::string rotation_message(std::string_view origin, const schema::PublicKey& old_key,
                             const schema::PublicKey& new_key) {
  return "aasm.rotate.v1\n" + std::string(origin) + "\n" + old_key.hex() + "\n" + new_key.hex();
}

schema::Result<crypto::Signature> sign_rotation(const crypto::SigningKey& new_key,
                                                std::string_view origin,
                                                const schema::PublicKey& old_key) {
  return new_key.sign(schema::as_bytes(rotation_message(origin, old_key, new_key.public_key())));
}

bool verify_rotation(std::string_view origin, const schema::PublicKey& old_key,
                     const schema::PublicKey& new_key, schema::ByteView signature) {
  return crypto::verify(new_key, schema::as_bytes(rotation_message(origin, old_key, new_key)),
                        signature);
}

std::string revocation_message(std::string_view origin, const schema::KeyId& key,
                               std::uint64_t limit) {
  return "aasm.revoke.v1\n" + std::string(origin) + "\n" + key.hex() + "\n" + std::to_string(limit);
}

schema::Result<crypto::Signature> sign_revocation(const crypto::SigningKey& root,
                                                  std::string_view origin, const schema::KeyId& key,
                                                  std::uint64_t limit) {
  return root.sign(schema::as_bytes(revocation_message(origin, key, limit)));
}

bool verify_revocation(const schema::PublicKey& root, std::string_view origin,
                       const schema::KeyId& key, std::uint64_t limit, schema::ByteView signature) {
  return crypto::verify(root, schema::as_bytes(revocation_message(origin, key, limit)), signature);
}

}  // namespace aasm::ledger_format
