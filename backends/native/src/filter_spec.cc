#include "filter_spec.h"

#include <sys/syscall.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "aasm/wire/helper_wire.h"

#include "bpf.h"
#include "file_attributes.h"
#include "file_request.h"
#include "shared_memory.h"
#include "signal_target.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::PolicyRule;
using schema::Requirement;
using schema::Result;
using schema::RuleEffect;
using schema::SelectorType;

// The calls a selector names: itself, or the members of a group.
Result<std::vector<std::string_view>> selected_names(const PolicyRule& rule) {
  const std::string_view value = rule.selector.value.bytes();
  if (rule.selector.type != SelectorType::kSyscall) {
    return Error(ErrorCode::kInvalidArgument, "rule " + rule.id + " does not select a system call");
  }
  if (value.substr(0, 1) == "@" && known_syscall_group(value)) {
    return expand_group(value);
  }
  if (known_syscall_name(value)) {
    return std::vector<std::string_view>{value};
  }
  return Error(ErrorCode::kInvalidArgument,
               "rule " + rule.id + ": no system call or group " + rule.selector.value.display());
}

Result<void> add_rule(const PolicyRule& rule, FilterSpec* spec) {
  auto& numbers = rule.effect == RuleEffect::kAllow ? spec->allowed : spec->denied;
  for (const std::string_view name : AASM_TRY(selected_names(rule))) {
    const std::optional<std::int32_t> number = syscall_number(name);
    if (number) {  // else a call of other architectures: nothing to allow or refuse here
      numbers.emplace(*number, rule.id);
    }
  }
  return {};
}

const PolicyRule* find_whole(const Requirement& requirement, RuleEffect effect) {
  for (const PolicyRule& rule : requirement.rules) {
    if (rule.effect == effect && rule.selector.type == SelectorType::kWhole) {
      return &rule;
    }
  }
  return nullptr;
}

Result<void> add_requirement(const Requirement& requirement, FilterSpec* spec) {
  spec->stated = true;
  spec->default_rule = requirement.default_rule;
  spec->default_notify = find_whole(requirement, RuleEffect::kAllow) == nullptr;
  for (const PolicyRule& rule : requirement.rules) {
    if (rule.selector.type != SelectorType::kWhole) {
      AASM_TRY(add_rule(rule, spec));
    }
  }
  const PolicyRule* denied = find_whole(requirement, RuleEffect::kDeny);
  if (denied != nullptr) {
    spec->default_notify = true;
    spec->default_rule = denied->id;
    spec->allowed.clear();
  }
  return {};
}

// A closed call that policy may open is open when an allow rule of the policy names it.
void close_calls(FilterSpec* spec) {
  for (const ClosedCall& call : closed_calls()) {
    const std::optional<std::int32_t> number = syscall_number(call.name);
    if (number && !(call.openable && spec->allowed.contains(*number))) {
      spec->closed.emplace(*number, &call);
    }
  }
}

}  // namespace

bool FilterSpec::policy_allows(std::int32_t number) const {
  if (denied.contains(number)) {
    return false;
  }
  return !default_notify || allowed.contains(number);
}

Result<FilterSpec> make_filter_spec(const Requirement* requirement, std::string_view on_denial) {
  FilterSpec spec;
  if (on_denial != "errno" && on_denial != "kill") {
    return Error(ErrorCode::kInvalidArgument, "on_denial is neither errno nor kill");
  }
  if (requirement != nullptr) {
    AASM_TRY(add_requirement(*requirement, &spec));
    spec.kill_on_denial = on_denial == "kill";
  }
  close_calls(&spec);
  return spec;
}

void observe_calls(FilterSpec& spec) {
  if (!spec.observing.covers(schema::Domain::kSyscall)) {
    return;
  }
  FilterSpec open = spec;
  open.default_notify = false;
  open.denied.clear();
  std::vector<sock_filter> program = build_filter(open);
  spec.open_calls =
      std::make_shared<const OpenCalls>(OpenCalls{std::move(open), std::move(program)});
}

namespace {

// Making sockets, listening and setting options is nothing to ipc.
NumberAction socket_action(const FilterSpec& spec, std::int32_t number) {
  const bool network = spec.network.judges();
  switch (number) {
    case SYS_connect:
    case SYS_bind:
    case SYS_sendmsg:
    case SYS_sendmmsg:
      return NumberAction::kNotify;
    case SYS_sendto:
      return NumberAction::kJudgeSendto;
    case SYS_listen:
      return network ? NumberAction::kNotify : NumberAction::kAllow;
    case SYS_socket:
      return network ? NumberAction::kJudgeSocket : NumberAction::kAllow;
    case SYS_setsockopt:
      return network ? NumberAction::kJudgeSetsockopt : NumberAction::kAllow;
    default:
      return NumberAction::kAllow;
  }
}

NumberAction receive_action(const FilterSpec& spec, std::int32_t number) {
  const std::vector<std::int32_t>& calls = receive_calls();
  if (!spec.network.answers_names() ||
      std::find(calls.begin(), calls.end(), number) == calls.end()) {
    return NumberAction::kAllow;
  }
  return number == SYS_recvfrom ? NumberAction::kJudgeRecvfrom : NumberAction::kNotify;
}

NumberAction file_action(const FileSpec& files, std::int32_t number) {
  const bool reads = files.level == FileLevel::kDecisions;
  switch (number) {
#if defined(SYS_open)
    case SYS_open:
      return reads ? NumberAction::kNotifyOpen : NumberAction::kJudgeOpen;
#endif
    case SYS_openat:
      return reads ? NumberAction::kNotifyOpenat : NumberAction::kJudgeOpenat;
    case SYS_execve:
    case SYS_execveat:
      return reads ? NumberAction::kNotify : NumberAction::kAllow;
    default:
      return NumberAction::kNotify;
  }
}

bool may_be_on_files(std::int32_t number) {
  const auto among = [number](const std::vector<std::int32_t>& calls) {
    return std::find(calls.begin(), calls.end(), number) != calls.end();
  };
  return among(file_calls()) || among(execution_calls());
}

// Of the calls that are judged where the policy states what they reach.
NumberAction judged_action(const FilterSpec& spec, std::int32_t number) {
  if (spec.files.judges() && may_be_on_files(number)) {
    return file_action(spec.files, number);
  }
  if (ipc_call(spec, number) != IpcCall::kNone) {
    return NumberAction::kNotify;
  }
  if (const NumberAction action = receive_action(spec, number); action != NumberAction::kAllow) {
    return action;
  }
  if (number == SYS_bind && spec.judges_binds()) {
    return NumberAction::kNotify;
  }
  return spec.judges_sockets() ? socket_action(spec, number) : NumberAction::kAllow;
}

}  // namespace

const std::vector<std::int32_t>& receive_calls() {
  static const std::vector<std::int32_t> calls = {SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg,
                                                  SYS_getpeername};
  return calls;
}

bool receives(const seccomp_data& call, const FilterSpec& spec) {
  return syscall_arch(call.arch, call.nr) == kNativeArch && call.nr >= 0 &&
         receive_action(spec, call.nr) != NumberAction::kAllow && spec.policy_allows(call.nr) &&
         !spec.closed.contains(call.nr);
}

const std::vector<std::int32_t>& network_calls() {
  static const std::vector<std::int32_t> calls = {SYS_connect, SYS_bind,      SYS_listen,
                                                  SYS_sendmsg, SYS_sendmmsg,  SYS_socket,
                                                  SYS_sendto,  SYS_setsockopt};
  return calls;
}

IpcCall ipc_call(const FilterSpec& spec, std::int32_t number) {
  const std::vector<std::int32_t>& signals = signal_calls();
  if (!spec.ipc.signals_rule.empty() &&
      std::find(signals.begin(), signals.end(), number) != signals.end()) {
    return IpcCall::kSignal;
  }
  return !spec.ipc.memory_rule.empty() && memory_call(number) != MemoryCall::kNone
             ? IpcCall::kMemory
             : IpcCall::kNone;
}

const std::vector<std::int32_t>& file_calls() {
  static const std::vector<std::int32_t> calls = [] {
    std::vector<std::int32_t> all = name_calls();
    all.insert(all.end(), attribute_calls().begin(), attribute_calls().end());
    return all;
  }();
  return calls;
}

const std::vector<std::int32_t>& execution_calls() {
  static const std::vector<std::int32_t> calls = {SYS_execve, SYS_execveat};
  return calls;
}

bool call_on_files(const seccomp_data& call) {
  return may_be_on_files(call.nr) &&
         (call.nr != SYS_ioctl ||
          control_changes_attributes(static_cast<std::uint32_t>(call.args[1])));
}

NumberAction number_action(const FilterSpec& spec, std::int32_t number) {
  if (number == static_cast<std::int32_t>(wire::kRendezvousCall) || !spec.policy_allows(number) ||
      spec.closed.contains(number) || (spec.files.observes() && !known_syscall_number(number))) {
    return NumberAction::kNotify;
  }
  switch (number) {
    case SYS_ioctl:
      return spec.files.judges() ? NumberAction::kJudgeIoctlOnFiles : NumberAction::kJudgeIoctl;
    case SYS_clone:
      return spec.ceiling ? NumberAction::kCountClone : NumberAction::kJudgeClone;
#if defined(SYS_fork)
    case SYS_fork:
    case SYS_vfork:
      return spec.ceiling ? NumberAction::kCountFork : NumberAction::kAllow;
#endif
    case SYS_prctl:
      return NumberAction::kJudgePrctl;
    case SYS_prlimit64:
      return NumberAction::kJudgePrlimit;
    case SYS_setpriority:
      return NumberAction::kJudgePriority;
    case SYS_ioprio_set:
      return NumberAction::kJudgeIoPriority;
    case SYS_sched_setaffinity:
    case SYS_sched_setattr:
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
      return NumberAction::kJudgeScheduling;
    case SYS_seccomp:
      return NumberAction::kJudgeSeccomp;
    default:
      return judged_action(spec, number);
  }
}

}  // namespace aasm::backend_native
