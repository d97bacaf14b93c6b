#include "aasm/backends/syscall_vocabulary.h"

#include "syscall_groups.h"

namespace aasm::backend_native {

std::unique_ptr<planner::SyscallVocabulary> make_syscall_vocabulary() {
  return std::make_unique<NativeSyscallVocabulary>();
}

}  // namespace aasm::backend_native
