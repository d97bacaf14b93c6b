#include "syscall_groups.h"

#include <algorithm>
#include <array>

#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

constexpr auto kGroupCalls = std::to_array<GroupCall>({
#define AASM_DEFAULT_CALL(name, reason) {"@default", name, reason},
#include "syscall_default.inc"
#undef AASM_DEFAULT_CALL
#define AASM_GROUP_CALL(group, name, reason) {group, name, reason},
#include "syscall_extra.inc"
#undef AASM_GROUP_CALL
});

constexpr auto kClosedCalls = std::to_array<ClosedCall>({
#define AASM_CLOSED_CALL(name, answer, openable, reason) \
  {name, ClosedAnswer::answer, openable, reason},
#define AASM_CLOSED_ARGUMENT(rule, call, condition, answer, reason)
#include "syscall_closed.inc"
#undef AASM_CLOSED_CALL
#undef AASM_CLOSED_ARGUMENT
});

constexpr auto kClosedArguments = std::to_array<ClosedArgument>({
#define AASM_CLOSED_CALL(name, answer, openable, reason)
#define AASM_CLOSED_ARGUMENT(rule, call, condition, answer, reason) \
  {rule, call, condition, answer, reason},
#include "syscall_closed.inc"
#undef AASM_CLOSED_CALL
#undef AASM_CLOSED_ARGUMENT
});

// More than any kernel has; the supplement and libseccomp end far below.
constexpr std::int32_t kHighestNumber = 511;

}  // namespace

std::span<const GroupCall> group_calls() {
  return kGroupCalls;
}
std::span<const ClosedCall> closed_calls() {
  return kClosedCalls;
}
std::span<const ClosedArgument> closed_arguments() {
  return kClosedArguments;
}

std::vector<std::string_view> expand_group(std::string_view group) {
  std::vector<std::string_view> names;
  for (const GroupCall& call : kGroupCalls) {
    if (call.group == group) {
      names.push_back(call.name);
    }
  }
  return names;
}

bool known_syscall_group(std::string_view group) {
  return std::any_of(kGroupCalls.begin(), kGroupCalls.end(),
                     [group](const GroupCall& call) { return call.group == group; });
}

std::vector<std::string_view> syscall_group_names() {
  std::vector<std::string_view> names;
  for (const GroupCall& call : kGroupCalls) {
    if (names.empty() || names.back() != call.group) {
      names.push_back(call.group);
    }
  }
  return names;
}

const ClosedCall* find_closed_call(std::string_view name) {
  const auto* const found =
      std::find_if(kClosedCalls.begin(), kClosedCalls.end(),
                   [name](const ClosedCall& call) { return call.name == name; });
  return found == kClosedCalls.end() ? nullptr : &*found;
}

bool NativeSyscallVocabulary::known_name(std::string_view name) const {
  return known_syscall_name(name);
}

bool NativeSyscallVocabulary::known_group(std::string_view group) const {
  return known_syscall_group(group);
}

std::vector<std::string> NativeSyscallVocabulary::members(std::string_view group) const {
  const std::vector<std::string_view> names = expand_group(group);
  return {names.begin(), names.end()};
}

std::vector<std::string> NativeSyscallVocabulary::start_calls() const {
  std::vector<std::string> calls = {"close",      "exit_group", "mmap",    "mprotect",
                                    "newfstatat", "openat",     "pread64", "read"};
#if defined(__x86_64__)
  calls.insert(calls.begin(), "arch_prctl");
#endif
  return calls;
}

std::vector<std::string> NativeSyscallVocabulary::suggestions() const {
  std::vector<std::string> words;
  for (const std::string_view group : syscall_group_names()) {
    words.emplace_back(group);
  }
  for (std::int32_t number = 0; number <= kHighestNumber; ++number) {
    if (known_syscall_number(number)) {
      words.push_back(syscall_name(kNativeArch, number));
    }
  }
  return words;
}

}  // namespace aasm::backend_native
