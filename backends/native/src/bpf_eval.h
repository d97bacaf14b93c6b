#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <span>

#include "aasm/schema/result.h"

namespace aasm::backend_native {

// What the kernel would answer: runs a seccomp filter program (classic BPF as seccomp(2) admits
// it, networking/filter.rst) on one call and yields the action, such as SECCOMP_RET_ALLOW. Pure.
// kMalformed for a program the kernel would not load: an instruction outside that set, a load
// outside seccomp_data or not 4 bytes wide and aligned, a jump or a fall over the end, a division
// by a constant zero. A division by a register of zero returns action 0, as in the kernel.
schema::Result<std::uint32_t> evaluate_filter(std::span<const sock_filter> program,
                                              const seccomp_data& call);

}  // namespace aasm::backend_native
