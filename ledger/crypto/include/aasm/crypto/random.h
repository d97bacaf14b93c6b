#pragma once

#include <cstdint>
#include <span>

#include "aasm/schema/result.h"

namespace aasm::crypto {

// Fills `out` from the kernel's generator, getrandom(2) with flags 0: it waits until the generator
// is seeded and carries on after signals. kUnavailable when the call is refused (a seccomp filter);
// `out` then holds nothing to rely on.
schema::Result<void> random_bytes(std::span<std::uint8_t> out);

}  // namespace aasm::crypto
