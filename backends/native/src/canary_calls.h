#pragma once

#include <array>
#include <string>
#include <string_view>

#include "own_capabilities.h"
#include "script_builder.h"

// Calls that canaries make.
namespace aasm::backend_native {

// One of the calls that do nothing and are on few policies' lists.
struct HarmlessCall {
  std::string_view name;
  std::string_view action;
};
inline constexpr std::array<HarmlessCall, 4> kHarmlessCalls = {{
    {"unshare", "unshare(0)"},
    {"kcmp", "kcmp of the caller with itself"},
    {"process_vm_readv", "process_vm_readv of nothing from the caller itself"},
    {"seccomp", "seccomp(SECCOMP_GET_ACTION_AVAIL)"},
}};

ScriptCall harmless_call(std::string_view name, long number, Script& script);

ScriptCall open_call(const std::string& path, int flags, Script& script);

// With AT_EXECVE_CHECK the kernel decides and executes nothing; it refuses the flag before 6.14.
// The argument vector is empty: a script has no way to place a pointer in memory.
ScriptCall execute_call(const std::string& path, Script& script);

// capset(2) to these.
ScriptCall capset_call(const CapabilitySets& sets, Script& script);

}  // namespace aasm::backend_native
