#include <linux/fcntl.h>

#include "file_act.h"

// Questions about executions: nothing is executed (docs/decisions/0025).
namespace aasm::helper {

namespace {

// Asks the kernel, and where it does not take the question yet (before Linux 6.14) for modes and
// mounts: what Landlock makes of it the supervisor then has to tell.
long ask_to_execute(int target, uint32_t type) {
  constexpr long kExecveCheck = 0x10000;  // AT_EXECVE_CHECK
  constexpr long kExecuteMode = 1;        // X_OK
  const char* words[] = {"", nullptr};
  const long result = raw_call(__NR_execveat, target, address(""), address(words),
                               address(words + 1), AT_EMPTY_PATH | kExecveCheck);
  if (result != -kEinval) {
    return result;
  }
  if (type != kTypeFile) {
    return type == kTypeLink ? -kEloop : -kEacces;
  }
  return raw_call(__NR_faccessat2, target, address(""), kExecuteMode, AT_EMPTY_PATH | AT_EACCESS);
}

}  // namespace

bool executes(const wire::BrokerFile& file) {
  return file.call == static_cast<uint32_t>(wire::BrokerFileCall::kExecute);
}

// The kernel opens the file for it, which a lease holds up. While we have it open nobody can take
// one.
long act_execute(FilePlaces& places, bool may_wait) {
  const long result = places.target < 0 ? open_target(places) : 0;
  if (result < 0) {
    return result;
  }
  wire::BrokerPlace found = {};
  look_at(places.target, "", AT_EMPTY_PATH, found);
  const uint32_t type = found.mode & kTypeMask;
  if (may_wait) {
    return ask_to_execute(places.target, type);
  }
  const long held = type != kTypeFile
                        ? -1
                        : raw_call(__NR_openat, AT_FDCWD, address(own_link(places.target).bytes),
                                   O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
  if (held < 0) {
    return kMustWait;
  }
  const long answer = ask_to_execute(places.target, type);
  close_fd(static_cast<int>(held));
  return answer;
}

}  // namespace aasm::helper
