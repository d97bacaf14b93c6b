#include "aasm/crypto/ed25519.h"

#include <utility>

#include "aasm/crypto/random.h"

#include "botan_adapter.h"
#include "ed25519_guard.h"

namespace aasm::crypto {

schema::Result<SigningKey> SigningKey::from_seed(std::span<const std::uint8_t, 32> seed) {
  SecretPage page = AASM_TRY(SecretPage::create());
  page.set(seed);
  schema::PublicKey public_key;
  if (!detail::ed25519_public_key(page.seed(), public_key.bytes)) {
    return schema::Error(schema::ErrorCode::kInternal, "deriving an Ed25519 public key failed");
  }
  return SigningKey(std::move(page), public_key);
}

schema::Result<SigningKey> SigningKey::generate() {
  std::array<std::uint8_t, 32> seed{};
  schema::Result<void> filled = random_bytes(seed);
  if (!filled) {
    return std::move(filled).error().with_context("making an Ed25519 key");
  }
  schema::Result<SigningKey> key = from_seed(seed);
  wipe_bytes(seed);
  return key;
}

schema::Result<Signature> SigningKey::sign(schema::ByteView message) const {
  if (!page_.live()) {
    return schema::Error(schema::ErrorCode::kInvalidArgument, "the signing key has been wiped");
  }
  Signature signature{};
  if (!detail::ed25519_sign(page_.seed(), public_key_.bytes, message, signature)) {
    return schema::Error(schema::ErrorCode::kInternal, "making an Ed25519 signature failed");
  }
  return signature;
}

bool verify(const schema::PublicKey& key, schema::ByteView message, schema::ByteView signature) {
  if (signature.size() != kSignatureBytes) {
    return false;
  }
  const std::span<const std::uint8_t, kSignatureBytes> fixed(signature.data(), kSignatureBytes);
  return is_acceptable_public_key(key) && detail::is_acceptable_point(fixed.first<32>()) &&
         detail::is_reduced_scalar(fixed.last<32>()) &&
         detail::ed25519_verify(key.bytes, message, fixed);
}

bool is_acceptable_public_key(const schema::PublicKey& key) {
  return detail::is_acceptable_point(key.bytes);
}

}  // namespace aasm::crypto
