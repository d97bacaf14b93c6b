#pragma once

#include <cstdint>
#include <optional>

#include "aasm/schema/result.h"

#include "helper_frame.h"

namespace aasm::backend_native {

// Capabilities of a process, bit n for capability n (capabilities(7)).
struct CapabilitySets {
  std::uint64_t effective = 0;
  std::uint64_t permitted = 0;
  std::uint64_t inheritable = 0;
};

// What a program may keep of root's power: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETGID, SETUID and
// NET_BIND_SERVICE. Enough to work on files and drop to another user; nothing that reaches into
// other processes or the kernel.
inline constexpr std::uint64_t kKeptCapabilities =
    (1U << 0) | (1U << 1) | (1U << 3) | (1U << 4) | (1U << 6) | (1U << 7) | (1U << 10);

// Those of the calling thread (capget(2)).
schema::Result<CapabilitySets> own_capabilities();

// What the helper is to cut; nullopt when it would take nothing away. The bounding set needs
// CAP_SETPCAP; without it, no_new_privs keeps executed files from giving anything back.
std::optional<CapabilityCut> capability_cut(const CapabilitySets& sets);

}  // namespace aasm::backend_native
