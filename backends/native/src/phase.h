#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace aasm::backend_native {

// Where a launch is. `workload` begins with the end of file on the child's close-on-exec report
// pipe, that is with a successful exec; nothing before it is an event of the run.
enum class Phase : std::uint8_t { kCanary, kHandover, kWorkload };

// The calls that the inside half of the helper's script makes (aasm/wire/script.h). They run
// whatever the policy says about their numbers, except those `forbidden`, which are answered as in
// the workload and reported.
struct CanaryScript {
  std::vector<std::int32_t> calls;
  std::vector<std::int32_t> forbidden;
  // A probe makes the inside half in a descendant: other processes than the child may call then,
  // and clone, wait4 belong to the helper's own calls.
  bool descendants = false;
};

enum class GateAnswer : std::uint8_t {
  kLetRun,
  kCanary,           // answer as in the workload, and report it
  kCanariesBegin,    // rendezvous: answer 0
  kReadyForProgram,  // rendezvous: withhold the answer until the session says go
  kViolation,        // end the launch
};

// What a notified call means before the workload. Pure. Precondition: phase is not kWorkload.
// Before the program runs, only the helper's own code runs: a call that is neither in the script
// nor one the helper makes by itself is not its, whatever it is.
GateAnswer gate(Phase phase, const CanaryScript& script, pid_t child, const seccomp_notif& call);

}  // namespace aasm::backend_native
