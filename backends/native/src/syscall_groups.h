#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aasm/planner/syscall_vocabulary.h"

// The groups of calls a policy may name, and what self-protection closes. The tables are data
// (syscall_default.inc, syscall_extra.inc, syscall_closed.inc), from which
// docs/spec/policy-syscalls.md is generated as well.
namespace aasm::backend_native {

struct GroupCall {
  std::string_view group;  // "@default"
  std::string_view name;
  std::string_view reason;  // one sentence
};

// How a closed call is answered.
enum class ClosedAnswer : std::uint8_t { kEperm, kEnosys, kEopnotsupp };

struct ClosedCall {
  std::string_view name;
  ClosedAnswer answer = ClosedAnswer::kEperm;
  bool openable = false;  // a policy that names it, or @debug, opens it
  std::string_view reason;
};

// A call that is judged by its argument registers; documentation of what bpf.cc tests.
struct ClosedArgument {
  std::string_view rule;
  std::string_view call;
  std::string_view condition;
  std::string_view answer;
  std::string_view reason;
};

std::span<const GroupCall> group_calls();    // of all groups, by group, then by name
std::span<const ClosedCall> closed_calls();  // by name
std::span<const ClosedArgument> closed_arguments();

// The names of a group in their order; empty for a group that does not exist.
std::vector<std::string_view> expand_group(std::string_view group);
bool known_syscall_group(std::string_view group);
std::vector<std::string_view> syscall_group_names();

// nullptr when self-protection does not close the call as such.
const ClosedCall* find_closed_call(std::string_view name);

// The vocabulary that the planner checks `syscalls` against. Without state.
class NativeSyscallVocabulary final : public planner::SyscallVocabulary {
 public:
  bool known_name(std::string_view name) const override;
  bool known_group(std::string_view group) const override;
  std::vector<std::string> members(std::string_view group) const override;
  // Of glibc 2.36; a test starts a program with these alone, and without each.
  std::vector<std::string> start_calls() const override;
  // The groups, and the calls that exist on this architecture.
  std::vector<std::string> suggestions() const override;
};

}  // namespace aasm::backend_native
