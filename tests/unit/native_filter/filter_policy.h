#pragma once

#include <linux/audit.h>
#include <linux/seccomp.h>

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/record_policy.h"

#include "filter_spec.h"
#include "syscall_names.h"

// Policies on system calls as the planner lowers them, in one line each.
namespace aasm::backend_native {

inline schema::PolicyRule syscall_rule(schema::RuleEffect effect, std::string_view name,
                                       std::size_t index) {
  const bool allows = effect == schema::RuleEffect::kAllow;
  schema::PolicyRule rule;
  rule.id =
      std::string(allows ? "syscalls.allow[" : "syscalls.deny[") + std::to_string(index) + "]";
  rule.effect = effect;
  rule.operation = "call";
  rule.selector.type = schema::SelectorType::kSyscall;
  rule.selector.value = schema::PathBytes(std::string(name));
  return rule;
}

inline schema::Requirement syscall_policy(const std::vector<std::string_view>& allow,
                                          const std::vector<std::string_view>& deny = {}) {
  schema::Requirement requirement;
  requirement.domain = schema::Domain::kSyscall;
  requirement.default_rule = "syscalls.allow";
  for (std::size_t i = 0; i < allow.size(); ++i) {
    requirement.rules.push_back(syscall_rule(schema::RuleEffect::kAllow, allow[i], i));
  }
  for (std::size_t i = 0; i < deny.size(); ++i) {
    requirement.rules.push_back(syscall_rule(schema::RuleEffect::kDeny, deny[i], i));
  }
  return requirement;
}

// Everything but what `deny` names.
inline schema::Requirement open_policy(const std::vector<std::string_view>& deny) {
  schema::Requirement requirement = syscall_policy({}, deny);
  schema::PolicyRule whole = syscall_rule(schema::RuleEffect::kAllow, "", 0);
  whole.selector.type = schema::SelectorType::kWhole;
  requirement.rules.push_back(whole);
  return requirement;
}

inline FilterSpec spec_of(const schema::Requirement& requirement,
                          std::string_view on_denial = "errno") {
  return make_filter_spec(&requirement, on_denial).value();
}

// Policy does not state system calls.
inline FilterSpec unstated_spec() {
  return make_filter_spec(nullptr, "errno").value();
}

inline std::int32_t number_of(std::string_view name) {
  const std::optional<std::int32_t> number = syscall_number(name);
  if (!number) {
    std::abort();
  }
  return *number;
}

inline seccomp_data native_call(std::int32_t number,
                                const std::initializer_list<std::uint64_t>& args = {}) {
  seccomp_data data{};
  data.nr = number;
  data.arch = kNativeArch == SyscallArch::kX86_64 ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64;
  std::size_t i = 0;
  for (const std::uint64_t arg : args) {
    data.args[i++] = arg;
  }
  return data;
}

}  // namespace aasm::backend_native
