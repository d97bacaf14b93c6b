#include "phase.h"

#include <sys/syscall.h>

#include <algorithm>

#include "aasm/wire/helper_wire.h"

#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

// What the helper calls on its own between the filter and the exec (launcher/helper).
bool helper_call(std::int32_t number, bool descendants) {
  switch (number) {
    case SYS_close:
    case SYS_exit:
    case SYS_exit_group:
      return true;
    case SYS_clone:
    case SYS_wait4:
      return descendants;
    default:
      return false;
  }
}

GateAnswer gate_rendezvous(Phase phase, const seccomp_notif& call) {
  if (phase != Phase::kCanary) {
    return GateAnswer::kViolation;
  }
  switch (static_cast<wire::RendezvousPhase>(call.data.args[0])) {
    case wire::RendezvousPhase::kCanaries:
      return GateAnswer::kCanariesBegin;
    case wire::RendezvousPhase::kProgram:
      return GateAnswer::kReadyForProgram;
  }
  return GateAnswer::kViolation;
}

bool holds(const std::vector<std::int32_t>& numbers, std::int32_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

GateAnswer gate_canary(const CanaryScript& script, std::int32_t number) {
  if (holds(script.forbidden, number)) {
    return GateAnswer::kCanary;
  }
  return holds(script.calls, number) || helper_call(number, script.descendants)
             ? GateAnswer::kLetRun
             : GateAnswer::kViolation;
}

}  // namespace

GateAnswer gate(Phase phase, const CanaryScript& script, pid_t child, const seccomp_notif& call) {
  const std::int32_t number = call.data.nr;
  const bool own = static_cast<pid_t>(call.pid) == child;
  if ((!own && !script.descendants) || syscall_arch(call.data.arch, number) != kNativeArch) {
    return GateAnswer::kViolation;
  }
  if (number == static_cast<std::int32_t>(wire::kRendezvousCall)) {
    return own ? gate_rendezvous(phase, call) : GateAnswer::kViolation;
  }
  if (phase == Phase::kCanary) {
    return gate_canary(script, number);
  }
  const bool executes = number == SYS_execve || number == SYS_execveat;
  return executes || helper_call(number, script.descendants) ? GateAnswer::kLetRun
                                                             : GateAnswer::kViolation;
}

}  // namespace aasm::backend_native
