#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "aasm/crypto/secret.h"
#include "aasm/schema/digest.h"

namespace aasm::crypto {

inline constexpr std::size_t kSignatureBytes = 64;
using Signature = std::array<std::uint8_t, kSignatureBytes>;

// An Ed25519 private key (RFC 8032), its seed in a SecretPage of its own. Move-only. sign() is
// const and may be called from several threads; wipe() and moves may not run beside it.
class SigningKey {
 public:
  // The seed is copied; the caller wipes its own copy with wipe_bytes().
  static schema::Result<SigningKey> from_seed(std::span<const std::uint8_t, 32> seed);
  // A new key from random_bytes().
  static schema::Result<SigningKey> generate();

  const schema::PublicKey& public_key() const { return public_key_; }
  // kInvalidArgument after wipe() or in a forked child (the seed is gone).
  schema::Result<Signature> sign(schema::ByteView message) const;

  // For writing a key file; the bytes stay in the locked page. Aborts unless live().
  std::span<const std::uint8_t, 32> seed() const { return page_.seed(); }
  bool live() const { return page_.live(); }
  bool memory_locked() const { return page_.locked(); }
  void wipe() { page_.wipe(); }

 private:
  SigningKey(SecretPage page, const schema::PublicKey& public_key)
      : page_(std::move(page)), public_key_(public_key) {}

  SecretPage page_;
  schema::PublicKey public_key_;
};

// True when `signature` is a good Ed25519 signature of `message` by `key`. Besides the equation of
// RFC 8032 (checked without the cofactor) it demands: 64 bytes, S < L, and that key and R are
// canonical encodings of points that are not of small order. A verdict, so never an Error.
// Thread-safe; about 0.12 ms.
bool verify(const schema::PublicKey& key, schema::ByteView message, schema::ByteView signature);

// True when `key` is a canonical encoding (y < p) and not one of the eight small-order points:
// for refusing such keys where they enter (trust files, record bodies). It does not say that the
// bytes are a point of the curve; verify() refuses the ones that are not.
bool is_acceptable_public_key(const schema::PublicKey& key);

}  // namespace aasm::crypto
