#include "remedy.h"

#include <cerrno>
#include <cstring>

namespace aasm::backend_native {
namespace {

std::string seccomp_remedy(int os_errno) {
  switch (os_errno) {
    case EBUSY:
      return " (seccomp notifications of this process tree go to another program already, and the "
             "kernel permits one: start aasm outside of it, that is outside the container runtime "
             "or supervisor that asked for them)";
    case EPERM:
    case EACCES:
    case ENOSYS:
      return " (a seccomp filter around aasm, such as a container's profile, refuses seccomp(2); "
             "permit it, or start aasm outside)";
    case EINVAL:
      return " (the kernel knows no seccomp user notification: Linux 5.0 and CONFIG_SECCOMP_FILTER "
             "are needed)";
    default:
      return "";
  }
}

std::string restrict_remedy(int os_errno) {
  switch (os_errno) {
    case E2BIG:
      return " (16 Landlock domains lie on top of each other already; start aasm outside of them)";
    case EPERM:
    case EACCES:
      return " (a seccomp filter around aasm, such as a container's profile, refuses "
             "landlock_restrict_self(2); permit it, or start aasm outside)";
    case ENOSYS:
    case EOPNOTSUPP:
      return " (" + landlock_remedy(os_errno) + ")";
    default:
      return "";
  }
}

}  // namespace

std::string step_failure_text(wire::Step step, int os_errno) {
  std::string text = std::string("step ") + wire::step_name(step) + ": " + std::strerror(os_errno);
  if (step == wire::Step::kSeccomp) {
    text += seccomp_remedy(os_errno);
  } else if (step == wire::Step::kLandlock) {
    text += restrict_remedy(os_errno);
  }
  return text;
}

std::string listener_remedy(int os_errno) {
  switch (os_errno) {
    case EPERM:
      return " (the supervisor may not reach into its own child: Yama is at "
             "kernel.yama.ptrace_scope 2 or 3 where 0 or 1 is needed, or a container's profile "
             "refuses pidfd_getfd(2))";
    case ENOSYS:
      return " (Linux 5.6 has it; a container's profile may hide it)";
    default:
      return "";
  }
}

std::string landlock_remedy(int os_errno) {
  switch (os_errno) {
    case EOPNOTSUPP:
      return "Landlock is built into this kernel and not enabled: add landlock to lsm= on the "
             "kernel's command line";
    case ENOSYS:
      return "this kernel has no Landlock: Linux 5.13 brought it (CONFIG_SECURITY_LANDLOCK), and "
             "aasm-native needs the signal scope of Landlock ABI 6, Linux 6.12; a container's "
             "profile may hide it";
    case EPERM:
    case EACCES:
      return "Landlock cannot be used: a seccomp filter around aasm, such as a container's "
             "profile, refuses landlock_create_ruleset(2)";
    default:
      return "landlock_create_ruleset(2) fails";
  }
}

}  // namespace aasm::backend_native
