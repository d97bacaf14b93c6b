#pragma once

#include <linux/audit.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Names and numbers of system calls. libseccomp's table, and a supplement for the calls that
// version 2.5 does not know (syscalls(2); arch/x86/entry/syscalls/syscall_64.tbl of Linux 6.18).
// All functions are pure and may be called from any thread.
namespace aasm::backend_native {

// The numbering a call was made with.
enum class SyscallArch : std::uint8_t { kX86_64, kX32, kI386, kAarch64, kOther };

#if defined(__x86_64__)
inline constexpr SyscallArch kNativeArch = SyscallArch::kX86_64;
inline constexpr std::uint32_t kNativeAuditArch = AUDIT_ARCH_X86_64;  // of seccomp_data
#elif defined(__aarch64__)
inline constexpr SyscallArch kNativeArch = SyscallArch::kAarch64;
inline constexpr std::uint32_t kNativeAuditArch = AUDIT_ARCH_AARCH64;
#else
#error "aasm-native knows x86_64 and aarch64"
#endif

// Set in x32 numbers, which arrive under the architecture of x86_64.
inline constexpr std::uint32_t kX32Bit = 0x40000000U;

// Which numbering `audit_arch` (AUDIT_ARCH_*, linux/audit.h) and the number say.
SyscallArch syscall_arch(std::uint32_t audit_arch, std::int32_t number);

// The token of EventObject::arch: x86_64, x32, i386, aarch64; "other" for a numbering we cannot
// name.
std::string_view arch_token(SyscallArch arch);

// The call's name, "syscall_4095" for a number without one. An x32 number keeps bit 30.
std::string syscall_name(SyscallArch arch, std::int32_t number);

// The native number of a name; nullopt for one that does not exist on this architecture.
std::optional<std::int32_t> syscall_number(std::string_view name);

// True for every call that exists on some architecture, so that one policy serves several.
bool known_syscall_name(std::string_view name);

// True for a native number that has a name.
bool known_syscall_number(std::int32_t number);

}  // namespace aasm::backend_native
