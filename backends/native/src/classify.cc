#include "classify.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/wire/helper_wire.h"

#include "bpf.h"
#include "bpf_eval.h"
#include "ipc_judge.h"
#include "network_judge.h"
#include "scheduling_judge.h"
#include "shared_memory.h"
#include "signal_target.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;

constexpr std::string_view kMechanism = "seccomp_user_notification";

std::uint32_t low_half(std::uint64_t argument) {
  return static_cast<std::uint32_t>(argument & 0xFFFFFFFFU);
}

Classification describe(const NotifiedCall& call) {
  const SyscallArch arch = syscall_arch(call.data.arch, call.data.nr);
  Classification result;
  result.event.domain = schema::Domain::kSyscall;
  result.event.operation = "call";
  result.event.object.type = schema::ObjectType::kSyscall;
  result.event.object.name = syscall_name(arch, call.data.nr);
  result.event.object.number = call.data.nr;
  result.event.object.arch = arch_token(arch);
  result.event.mechanism = kMechanism;
  return result;
}

Classification refuse(Classification result, std::string rule, int os_errno) {
  result.answer = AnswerKind::kRefuse;
  result.event.outcome = DecisionOutcome::kDenied;
  result.event.cause = DecisionCause::kPolicy;
  result.event.rule = std::move(rule);
  result.event.os_errno = os_errno;
  return result;
}

Classification refuse_by_policy(Classification result, const FilterSpec& spec, std::string rule,
                                int os_errno) {
  result = refuse(std::move(result), std::move(rule), os_errno);
  if (spec.kill_on_denial) {
    result.answer = AnswerKind::kKill;
    result.fallback_errno = os_errno;
    result.event.os_errno = 0;  // a killed caller receives none
  }
  return result;
}

Classification protect(Classification result, std::string_view name, int os_errno) {
  return refuse(std::move(result), "self_protection." + std::string(name), os_errno);
}

Classification compat(Classification result, std::string_view name, AnswerKind answer,
                      DecisionOutcome outcome, int os_errno) {
  result.answer = answer;
  result.event.outcome = outcome;
  result.event.cause = DecisionCause::kCompat;
  result.event.rule = "compat." + std::string(name);
  result.event.os_errno = os_errno;
  return result;
}

Classification nested_filter(Classification result) {
  result.event.nested_filter = true;
  return compat(std::move(result), "nested_filter", AnswerKind::kContinue,
                DecisionOutcome::kAllowed, 0);
}

// The program and this file disagree, which must not let a call through.
Classification unexpected(Classification result) {
  result = refuse(std::move(result), "", EPERM);
  result.event.cause = DecisionCause::kFault;
  return result;
}

Classification judge_prctl(Classification result, const seccomp_data& data) {
  switch (low_half(data.args[0])) {
    case kPrctlSetSeccomp:
      return nested_filter(std::move(result));
    case kPrctlSetMm:
      return protect(std::move(result), "prctl_set_mm", EPERM);
    case kPrctlSetDumpable:
      if (data.args[1] == 0) {
        return compat(std::move(result), "set_dumpable", AnswerKind::kEmulate,
                      DecisionOutcome::kEmulated, 0);
      }
      break;
    default:
      break;
  }
  return unexpected(std::move(result));
}

Classification judge_ioctl(Classification result, const seccomp_data& data) {
  switch (low_half(data.args[1])) {
    case kIoctlTiocsti:
      return protect(std::move(result), "tiocsti", EPERM);
    case kIoctlTioclinux:
      return protect(std::move(result), "tioclinux", EPERM);
    default:
      return unexpected(std::move(result));
  }
}

Classification allow_silently(Classification result) {
  result.answer = AnswerKind::kContinue;
  result.event.outcome = DecisionOutcome::kAllowed;
  result.recorded = false;
  return result;
}

// AT_EXECVE_CHECK: the kernel says whether it would, and executes nothing.
bool only_asks_to_execute(const seccomp_data& data) {
  return data.nr == SYS_execveat && (data.args[4] & kExecveCheck) != 0;
}

// The caller is blocked, so its own numbers cannot have passed to another process.
bool is_caller(std::int32_t number, const NotifiedCall& call) {
  return number > 0 && (number == call.tid || number == call.pid);
}

Classification judge_prlimit(Classification result, const NotifiedCall& call) {
  return is_caller(static_cast<std::int32_t>(low_half(call.data.args[0])), call)
             ? allow_silently(std::move(result))
             : protect(std::move(result), "prlimit_other", EPERM);
}

Classification judge_scheduling(Classification result, const NotifiedCall& call,
                                const SchedulingTarget& target) {
  if (target.is_one && is_caller(target.who, call)) {
    return allow_silently(std::move(result));
  }
  result = protect(std::move(result), "scheduling_other", EPERM);
  if (target.is_one && target.who > 0) {
    result.answer = AnswerKind::kUnlessInside;
  }
  return result;
}

Classification from_network(Classification result, const NetworkSpec& spec,
                            NetworkVerdict verdict) {
  result.answer = verdict.perform ? AnswerKind::kContinue : AnswerKind::kRefuse;
  result.recorded = verdict.recorded;
  result.event = std::move(verdict.event);
  if (kills(spec, result.event)) {
    result.answer = AnswerKind::kKill;
    result.fallback_errno = std::exchange(result.event.os_errno, 0);
  }
  return result;
}

Classification judge_on_socket(Classification result, const NotifiedCall& call,
                               const FilterSpec& spec) {
  const auto word = [&call](std::size_t index) {
    return static_cast<std::int32_t>(low_half(call.data.args[index]));
  };
  switch (call.data.nr) {
    case SYS_socket:
      return from_network(std::move(result), spec.network,
                          judge_socket(spec.network, word(0), word(1), word(2)));
    case SYS_setsockopt:
      return from_network(std::move(result), spec.network,
                          judge_option(spec.network, word(1), word(2)));
    default:
      result.answer = AnswerKind::kBroker;
      return result;
  }
}

Classification judge_ipc(Classification result, const seccomp_data& data, const FilterSpec& spec,
                         IpcCall kind) {
  result.answer = AnswerKind::kUnlessInside;
  if (kind == IpcCall::kSignal) {
    result.event = signal_refused(spec.ipc, target_text(signal_target(data)));
    return result;
  }
  const MemoryCall what = memory_call(data.nr);
  result.answer = what == MemoryCall::kMakes   ? AnswerKind::kBroker
                  : what == MemoryCall::kNames ? AnswerKind::kRefuse
                                               : AnswerKind::kUnlessInside;
  result.event = memory_refused(spec.ipc, memory_text(data));
  return result;
}

Classification refuse_creation(Classification result, const ProcessCeiling& ceiling) {
  schema::EventObject made;
  made.type = schema::ObjectType::kProcess;
  made.name = result.event.object.name;
  result.event.domain = schema::Domain::kProcessCreation;
  result.event.operation = "create";
  result.event.object = std::move(made);
  return refuse(std::move(result), ceiling.rule, creation_errno(ceiling));
}

Classification judge_arguments(Classification result, const NotifiedCall& call,
                               const FilterSpec& spec) {
  if (creates_process(call.data, spec)) {
    return refuse_creation(std::move(result), *spec.ceiling);
  }
  if (const std::optional<SchedulingTarget> target = scheduling_target(call.data)) {
    return judge_scheduling(std::move(result), call, *target);
  }
  switch (call.data.nr) {
    case SYS_ioctl:
      return judge_ioctl(std::move(result), call.data);
    case SYS_prctl:
      return judge_prctl(std::move(result), call.data);
    case SYS_prlimit64:
      return judge_prlimit(std::move(result), call);
    case SYS_clone:
      if ((low_half(call.data.args[0]) & kCloneNewFlags) != 0) {
        return protect(std::move(result), "clone_namespaces", EPERM);
      }
      return unexpected(std::move(result));
    case SYS_seccomp:
      if (low_half(call.data.args[0]) <= kSeccompSetModeFilter) {
        return nested_filter(std::move(result));
      }
      return unexpected(std::move(result));
    default:
      return unexpected(std::move(result));
  }
}

// A number we cannot name, or cannot even read as one of ours: it is answered as if the kernel
// did not have it.
Classification refuse_unknown(Classification result, const FilterSpec& spec,
                              std::string_view protection) {
  if (spec.default_notify) {
    return refuse_by_policy(std::move(result), spec, spec.default_rule, ENOSYS);
  }
  return protect(std::move(result), protection, ENOSYS);
}

int closed_errno(ClosedAnswer answer) {
  switch (answer) {
    case ClosedAnswer::kEperm:
      return EPERM;
    case ClosedAnswer::kEnosys:
      return ENOSYS;
    case ClosedAnswer::kEopnotsupp:
      return EOPNOTSUPP;
  }
  return EPERM;
}

}  // namespace

bool creates_process(const seccomp_data& call, const FilterSpec& spec) {
  if (!spec.ceiling || syscall_arch(call.arch, call.nr) != kNativeArch || call.nr < 0) {
    return false;
  }
  const NumberAction action = number_action(spec, call.nr);
  const bool clones = action == NumberAction::kCountClone &&
                      (low_half(call.args[0]) & (kCloneNewFlags | kCloneThread)) == 0;
  return clones || action == NumberAction::kCountFork;
}

namespace {

// What self-protection closes is refused all the same, and then not observed.
Classification observe_call(Classification result, const NotifiedCall& call,
                            const FilterSpec& spec) {
  const std::int32_t number = call.data.nr;
  const auto denied = spec.denied.find(number);
  schema::Event event =
      seen(refuse(result, denied != spec.denied.end() ? denied->second : spec.default_rule, EPERM)
               .event);
  const OpenCalls& open = *spec.open_calls;
  const schema::Result<std::uint32_t> action = evaluate_filter(open.program, call.data);
  // Who counts processes has not been asked of a call that policy refuses: it is not counted.
  const bool runs =
      (action && *action == SECCOMP_RET_ALLOW) || creates_process(call.data, open.spec);
  result = runs ? allow_silently(std::move(result)) : classify(call, open.spec);
  if (!open.spec.closed.contains(number)) {
    result.seen = std::move(event);
  }
  return result;
}

}  // namespace

Classification classify(const NotifiedCall& call, const FilterSpec& spec) {
  Classification result = describe(call);
  const std::int32_t number = call.data.nr;
  if (syscall_arch(call.data.arch, number) != kNativeArch || number < 0) {
    return refuse_unknown(std::move(result), spec, "foreign_architecture");
  }
  if (number == static_cast<std::int32_t>(wire::kRendezvousCall)) {
    return refuse_unknown(std::move(result), spec, "rendezvous");
  }
  if (spec.files.observes() && !known_syscall_number(number)) {
    return protect(std::move(result), "unknown_call", ENOSYS);
  }
  if (spec.open_calls && !spec.policy_allows(number)) {
    return observe_call(std::move(result), call, spec);
  }
  const auto denied = spec.denied.find(number);
  if (denied != spec.denied.end()) {
    return refuse_by_policy(std::move(result), spec, denied->second, EPERM);
  }
  const auto closed = spec.closed.find(number);
  if (closed != spec.closed.end() && closed->second->answer != ClosedAnswer::kEperm) {
    return compat(std::move(result), closed->second->name, AnswerKind::kRefuse,
                  DecisionOutcome::kDenied, closed_errno(closed->second->answer));
  }
  if (!spec.policy_allows(number)) {
    return refuse_by_policy(std::move(result), spec, spec.default_rule,
                            known_syscall_number(number) ? EPERM : ENOSYS);
  }
  if (closed != spec.closed.end()) {
    return protect(std::move(result), closed->second->name, EPERM);
  }
  if (spec.files.judges() && call_on_files(call.data)) {
    if (only_asks_to_execute(call.data)) {
      return allow_silently(std::move(result));
    }
    result.answer = AnswerKind::kBroker;
    return result;
  }
  const std::vector<std::int32_t>& on_sockets = network_calls();
  if (const IpcCall kind = ipc_call(spec, number); kind != IpcCall::kNone) {
    return judge_ipc(std::move(result), call.data, spec, kind);
  }
  if (number == SYS_bind && spec.judges_binds()) {
    result.answer = AnswerKind::kBroker;
    return result;
  }
  if (spec.judges_sockets() &&
      std::find(on_sockets.begin(), on_sockets.end(), number) != on_sockets.end()) {
    return judge_on_socket(std::move(result), call, spec);
  }
  if (receives(call.data, spec)) {  // whoever keeps the channel carries it out
    result.answer = AnswerKind::kContinue;
    result.event.outcome = DecisionOutcome::kAllowed;
    result.recorded = false;
    return result;
  }
  return judge_arguments(std::move(result), call, spec);
}

}  // namespace aasm::backend_native
