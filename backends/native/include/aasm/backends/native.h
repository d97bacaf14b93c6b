#pragma once

#include <memory>

#include "aasm/planner/backend.h"

namespace aasm::backend_native {

// The backend `aasm-native` (docs/spec/backends.md): Landlock for the filesystem, a seccomp filter
// whose denials are notified to the supervisor for system calls, and the launch helper for the
// descriptors, the environment and root's capability cut. Class `process`; needs no privilege.
// Supports filesystem_read, filesystem_write, syscall and credential; the other domains are
// reported unsupported. Session's thread only.
std::unique_ptr<planner::Backend> make_native_backend();

}  // namespace aasm::backend_native
