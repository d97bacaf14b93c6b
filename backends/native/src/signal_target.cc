#include "signal_target.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <string_view>
#include <utility>

#include "aasm/process/proc_status.h"

#include "caller_state.h"
#include "process_list.h"

namespace aasm::backend_native {
namespace {

using Kind = SignalTarget::Kind;

std::int32_t word(const seccomp_data& call, std::size_t index) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(call.args[index]));
}

SignalTarget process_target(std::int32_t number) {
  return number > 0 ? SignalTarget{Kind::kProcess, number} : SignalTarget{};
}

// kill(2): 0 is the caller's group, -1 everybody, and what is below -1 a group.
SignalTarget kill_target(std::int32_t number) {
  if (number == 0 || number == -1) {
    return {Kind::kOwn, number};
  }
  if (number == INT_MIN) {
    return {};
  }
  return number > 0 ? process_target(number) : SignalTarget{Kind::kGroup, -number};
}

}  // namespace

const std::vector<std::int32_t>& signal_calls() {
  static const std::vector<std::int32_t> calls = {SYS_kill,
                                                  SYS_tkill,
                                                  SYS_tgkill,
                                                  SYS_rt_sigqueueinfo,
                                                  SYS_rt_tgsigqueueinfo,
                                                  SYS_pidfd_send_signal,
                                                  SYS_pidfd_open};
  return calls;
}

SignalTarget signal_target(const seccomp_data& call) {
  switch (call.nr) {
    case SYS_kill:
      return kill_target(word(call, 0));
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo:
      return process_target(word(call, 1));
    case SYS_pidfd_send_signal:
      return word(call, 0) >= 0 ? SignalTarget{Kind::kDescriptor, word(call, 0)} : SignalTarget{};
    default:
      return process_target(word(call, 0));
  }
}

std::string target_text(const SignalTarget& target) {
  switch (target.kind) {
    case Kind::kGroup:
      return "-" + std::to_string(target.number);
    case Kind::kDescriptor:
      return "descriptor " + std::to_string(target.number);
    case Kind::kNobody:
    case Kind::kOwn:
    case Kind::kProcess:
      break;
  }
  return std::to_string(target.number);
}

SignalTarget follow_descriptor(SignalTarget target, pid_t tid) {
  if (target.kind != Kind::kDescriptor) {
    return target;
  }
  const auto taken = take_descriptor(tid, target.number);
  if (!taken) {
    return target;
  }
  const std::string number = std::to_string(taken->get());
  const auto information = process::read_small_file("/proc/self/fdinfo/" + number);
  if (information) {
    const auto pid = process::status_numbers(*information, "Pid", 10);
    if (pid && pid->size() == 1) {
      return process_target(static_cast<std::int32_t>(pid->front()));
    }
  }
  // Also a directory of a process below /proc (pidfd_send_signal(2)).
  const auto link = process::read_link("/proc/self/fd/" + number);
  constexpr std::string_view kProc = "/proc/";
  std::int32_t pid = 0;
  if (link && link->starts_with(kProc)) {
    std::from_chars(link->data() + kProc.size(), link->data() + link->size(), pid);
  }
  return pid > 0 ? process_target(pid) : target;
}

bool SignalScope::is_outside(const SignalTarget& target) const {
  switch (target.kind) {
    case Kind::kProcess:
      return is_stranger(target.number);
    case Kind::kGroup:
      return is_foreign_group(target.number);
    case Kind::kNobody:
    case Kind::kOwn:
    case Kind::kDescriptor:
      break;
  }
  return false;
}

bool SignalScope::is_stranger(pid_t pid) const {
  const auto status = process::read_proc_status(pid);
  if (!status) {
    // Hidden (proc(5), hidepid) are those of other users, and who is of the tree is not hidden.
    return ::kill(pid, 0) != 0 && errno == EPERM;
  }
  const pid_t process = status->tgid;
  return process == root_ || process == broker_ || !may_descend(process, root_);
}

bool SignalScope::is_foreign_group(pid_t group) const {
  const auto leader = process::read_proc_stat(group);
  if (leader && leader->process_group == group && !is_stranger(group)) {
    return false;
  }
  const auto members = list_group(group);
  if (!members || members->empty()) {
    return false;
  }
  return std::all_of(members->begin(), members->end(),
                     [this](pid_t member) { return is_stranger(member); });
}

}  // namespace aasm::backend_native
