#include "filter_spec.h"

#include <sys/syscall.h>

#include <utility>
#include <vector>

#include "aasm/wire/helper_wire.h"

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

namespace {

NumberAction network_action(std::int32_t number) {
  switch (number) {
    case SYS_connect:
    case SYS_bind:
    case SYS_listen:
    case SYS_sendmsg:
    case SYS_sendmmsg:
      return NumberAction::kNotify;
    case SYS_socket:
      return NumberAction::kJudgeSocket;
    case SYS_sendto:
      return NumberAction::kJudgeSendto;
    case SYS_setsockopt:
      return NumberAction::kJudgeSetsockopt;
    default:
      return NumberAction::kAllow;
  }
}

}  // namespace

const std::vector<std::int32_t>& network_calls() {
  static const std::vector<std::int32_t> calls = {SYS_connect, SYS_bind,      SYS_listen,
                                                  SYS_sendmsg, SYS_sendmmsg,  SYS_socket,
                                                  SYS_sendto,  SYS_setsockopt};
  return calls;
}

NumberAction number_action(const FilterSpec& spec, std::int32_t number) {
  if (number == static_cast<std::int32_t>(wire::kRendezvousCall) || !spec.policy_allows(number) ||
      spec.closed.contains(number)) {
    return NumberAction::kNotify;
  }
  switch (number) {
    case SYS_ioctl:
      return NumberAction::kJudgeIoctl;
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
      return spec.network.judges() ? network_action(number) : NumberAction::kAllow;
  }
}

}  // namespace aasm::backend_native
