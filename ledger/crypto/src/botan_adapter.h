#pragma once

#include <cstdint>
#include <span>

#include "aasm/schema/digest.h"

// The whole of what this module asks of Botan, besides SHA-256. botan_adapter.cc is compiled with
// exceptions and lets none out: a failed call returns false, exhausted memory ends the process.
namespace aasm::crypto::detail {

// Makes Botan's first secure allocation while its pool of locked pages is configured away.
void prepare_botan() noexcept;

// The public key that belongs to `seed` (RFC 8032 section 5.1.5).
bool ed25519_public_key(std::span<const std::uint8_t, 32> seed,
                        std::span<std::uint8_t, 32> public_key) noexcept;

// Precondition: `public_key` belongs to `seed`.
bool ed25519_sign(std::span<const std::uint8_t, 32> seed,
                  std::span<const std::uint8_t, 32> public_key, schema::ByteView message,
                  std::span<std::uint8_t, 64> signature) noexcept;

// Botan's own answer, without the guard of ed25519_guard.h.
bool ed25519_verify(std::span<const std::uint8_t, 32> public_key, schema::ByteView message,
                    std::span<const std::uint8_t, 64> signature) noexcept;

}  // namespace aasm::crypto::detail
