#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <vector>

namespace aasm::process {

// The seccomp program of confine_self(): refuses what its comment lists and allows the rest. `pid`
// is the process it is for: the only one whose limits it may change and whose threads it may
// signal, which abort(3) needs.
std::vector<sock_filter> build_errno_filter(std::uint32_t pid);

}  // namespace aasm::process
