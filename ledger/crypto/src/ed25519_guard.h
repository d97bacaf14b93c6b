#pragma once

#include <cstdint>
#include <span>

// What Botan 2.19 does not refuse by itself in an Ed25519 signature or key. Pure; the values are
// public, so nothing here needs constant time.
namespace aasm::crypto::detail {

// True when the little-endian number is below the group order L (RFC 8032 section 5.1.7): else
// S + L would be a second signature for the same message.
bool is_reduced_scalar(std::span<const std::uint8_t, 32> scalar);

// True when the encoding's y is below p = 2^255 - 19 and belongs to none of the eight points of
// small order. Those two together also refuse the encodings with x = 0 and the sign bit set, since
// x = 0 happens for the points of order 1 and 2 only.
bool is_acceptable_point(std::span<const std::uint8_t, 32> encoding);

}  // namespace aasm::crypto::detail
