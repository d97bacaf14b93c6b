#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/process/fd.h"

namespace aasm::process {

// What a process keeps for itself when it gives everything else up. Descriptors may be O_PATH.
struct SelfConfinement {
  std::vector<BorrowedFd> readable;  // files it may open for reading
  std::vector<BorrowedFd> scratch;   // directories of its own: files below may be made and removed
  int newest_abi = 7;                // of Landlock; tests pretend to be on an older kernel
};

// What came of it.
struct ConfinementReport {
  int landlock_abi = 0;         // 0: Landlock does not confine it, for the reason below
  std::string landlock_reason;  // empty when it does
  bool filter = false;          // the seccomp filter is on
  std::string filter_reason;    // empty when it is

  // "confined: landlock abi 7, filter", "partly confined: filter; no landlock: ...",
  // "not confined: ..."
  std::string text() const;
};

// Gives up, for good: with Landlock, every file but those listed (whoever holds a descriptor keeps
// it), TCP, and signals to other processes, as far as the kernel's ABI has them; with a seccomp
// filter that answers an errno, starting programs and processes, looking into other processes,
// sockets, new executable memory, attributes of files (which Landlock does not see), mounts,
// namespaces and every call of kernels newer than Linux 6.15. Threads can still be made.
//
// For a process that reads bytes nobody vouches for. Where the kernel has no part of it, the report
// says so and the process goes on: it is a second line, and no check rests on it. Sets
// no_new_privs. The process must have one thread: those that it has already would stay as they are.
ConfinementReport confine_self(const SelfConfinement& request);

}  // namespace aasm::process
