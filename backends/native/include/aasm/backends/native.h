#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aasm/planner/backend.h"

namespace aasm::backend_native {

// The backend `aasm-native` (docs/spec/backends.md): Landlock for the filesystem, a seccomp filter
// whose denials are notified to the supervisor for system calls, and the launch helper for the
// descriptors, the environment and root's capability cut. Class `process`; needs no privilege.
// Session's thread only.
std::unique_ptr<planner::Backend> make_native_backend();

// What of this host keeps a limit that the requirements state, and so may not be written by the
// program: where control groups are mounted, if memory is limited. Directories, and the file in
// each that moves a process.
std::vector<std::string> places_of_limits(const std::vector<schema::Requirement>& requirements);

}  // namespace aasm::backend_native
