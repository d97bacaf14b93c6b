#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::process {

// The new process gets a copy of `source` under the number `target`.
struct DescriptorMapping {
  int target = -1;
  int source = -1;
};

enum class SpawnSignals : std::uint8_t {
  kAsCaller,  // the caller's mask; what the caller handles is default, what it ignores is ignored
  kBlockAll,  // every signal blocked: the program sees to its signals itself
};

// What to start. Strings are bytes without NUL. Descriptors that are not mapped are closed.
struct SpawnRequest {
  BorrowedFd program{-1};  // executed by descriptor when valid
  std::string path;        // else executed by path; needed for a `#!` script
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<DescriptorMapping> descriptors;
  SpawnSignals signals = SpawnSignals::kAsCaller;
};

// A child that runs the program. It is the caller's to wait for.
struct SpawnedProcess {
  pid_t pid = -1;
  Fd pidfd;
};

// Starts a program as vfork(2) does: the caller's thread stands still until the child has executed
// it, and nothing is copied. Between the two the child neither allocates nor locks, and no signal
// handler can run in it. A failed exec is an Error with its errno; no process is left then. Any
// thread; the process group, the session and the working directory are the caller's.
schema::Result<SpawnedProcess> spawn(const SpawnRequest& request);

}  // namespace aasm::process
