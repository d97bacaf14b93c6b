#pragma once

#include <memory>

#include "aasm/planner/syscall_vocabulary.h"

namespace aasm::backend_native {

// The names and groups that a policy may write under `syscalls`: docs/spec/policy-syscalls.md.
std::unique_ptr<planner::SyscallVocabulary> make_syscall_vocabulary();

}  // namespace aasm::backend_native
