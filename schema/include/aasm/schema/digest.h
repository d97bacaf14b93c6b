#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/hex.h"
#include "aasm/schema/result.h"

namespace aasm::schema {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

// Text seen as bytes. SAFETY: char and uint8_t have the same size and may alias.
inline ByteView as_bytes(std::string_view text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Thirty-two bytes under a name of their own, so that a leaf and a key id cannot be swapped.
template <class Tag>
struct Bytes32 {
  std::array<std::uint8_t, 32> bytes{};

  static Result<Bytes32> from_span(ByteView view) {
    if (view.size() != 32) {
      return Error(ErrorCode::kMalformed, "expected 32 bytes, got " + std::to_string(view.size()));
    }
    Bytes32 value;
    std::copy(view.begin(), view.end(), value.bytes.begin());
    return value;
  }
  static Result<Bytes32> from_hex_text(std::string_view text) {
    return from_span(AASM_TRY(from_hex(text)));
  }
  std::string hex() const { return to_hex(bytes); }
  ByteView view() const { return bytes; }
  auto operator<=>(const Bytes32&) const = default;
};

using Sha256 = Bytes32<struct Sha256Tag>;        // digest of some bytes
using LeafHash = Bytes32<struct LeafTag>;        // RFC 6962 leaf hash of a record
using TreeHash = Bytes32<struct TreeTag>;        // RFC 6962 node or root
using KeyId = Bytes32<struct KeyIdTag>;          // SHA-256 of an Ed25519 public key
using PublicKey = Bytes32<struct PublicKeyTag>;  // raw Ed25519 public key

}  // namespace aasm::schema
