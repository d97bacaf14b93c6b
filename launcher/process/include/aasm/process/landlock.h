#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

// Constants and calls of landlock(7) up to ABI 7. Of our own because linux-libc-dev 6.1 stops at
// ABI 2, and what is handled must not depend on the headers this was built with. Values from
// include/uapi/linux/landlock.h of Linux 6.15.
namespace aasm::process::landlock {

// Filesystem rights, by the ABI that brought them. ABI 1:
inline constexpr std::uint64_t kExecute = 1U << 0;
inline constexpr std::uint64_t kWriteFile = 1U << 1;
inline constexpr std::uint64_t kReadFile = 1U << 2;
inline constexpr std::uint64_t kReadDir = 1U << 3;
inline constexpr std::uint64_t kRemoveDir = 1U << 4;
inline constexpr std::uint64_t kRemoveFile = 1U << 5;
inline constexpr std::uint64_t kMakeChar = 1U << 6;
inline constexpr std::uint64_t kMakeDir = 1U << 7;
inline constexpr std::uint64_t kMakeReg = 1U << 8;
inline constexpr std::uint64_t kMakeSock = 1U << 9;
inline constexpr std::uint64_t kMakeFifo = 1U << 10;
inline constexpr std::uint64_t kMakeBlock = 1U << 11;
inline constexpr std::uint64_t kMakeSym = 1U << 12;
inline constexpr std::uint64_t kRefer = 1U << 13;     // ABI 2
inline constexpr std::uint64_t kTruncate = 1U << 14;  // ABI 3
inline constexpr std::uint64_t kIoctlDev = 1U << 15;  // ABI 5

// Network rights, ABI 4.
inline constexpr std::uint64_t kBindTcp = 1U << 0;
inline constexpr std::uint64_t kConnectTcp = 1U << 1;

// Scopes, ABI 6.
inline constexpr std::uint64_t kScopeAbstractUnixSocket = 1U << 0;
inline constexpr std::uint64_t kScopeSignal = 1U << 1;
inline constexpr std::int64_t kSignalScopeAbi = 6;

// Flags of landlock_restrict_self(2), ABI 7.
inline constexpr std::uint32_t kLogSameExecOff = 1U << 0;
inline constexpr std::uint32_t kLogNewExecOn = 1U << 1;
inline constexpr std::uint32_t kLogSubdomainsOff = 1U << 2;
inline constexpr std::int64_t kLogFlagsAbi = 7;

// A rule on anything but a directory may hold these rights alone (EINVAL otherwise).
inline constexpr std::uint64_t kFileRights =
    kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;

// Every filesystem right that a kernel of this ABI knows; a newer ABI is used as the newest known.
constexpr std::uint64_t known_rights(std::int64_t abi) {
  std::uint64_t rights = 0;
  if (abi >= 1) {
    rights |= (1U << 13) - 1;
  }
  if (abi >= 2) {
    rights |= kRefer;
  }
  if (abi >= 3) {
    rights |= kTruncate;
  }
  if (abi >= 5) {
    rights |= kIoctlDev;
  }
  return rights;
}

constexpr std::uint64_t known_net_rights(std::int64_t abi) {
  return abi >= 4 ? kBindTcp | kConnectTcp : 0;
}

constexpr std::uint64_t known_scopes(std::int64_t abi) {
  return abi >= kSignalScopeAbi ? kScopeAbstractUnixSocket | kScopeSignal : 0;
}

// struct landlock_ruleset_attr. A kernel that knows less of it accepts the whole size as long as
// what it does not know is zero.
struct RulesetAttr {
  std::uint64_t handled_access_fs = 0;
  std::uint64_t handled_access_net = 0;
  std::uint64_t scoped = 0;
};

// struct landlock_path_beneath_attr; packed in the kernel's header.
struct __attribute__((packed)) PathBeneathAttr {
  std::uint64_t allowed_access = 0;
  std::int32_t parent_fd = -1;
};
static_assert(sizeof(PathBeneathAttr) == 12);

// The system calls, as the kernel answers: -1 and errno on failure. The numbers are the same on
// every architecture.
inline constexpr long kCreateRulesetNumber = 444;
inline constexpr long kAddRuleNumber = 445;
inline constexpr long kRestrictSelfNumber = 446;
inline constexpr std::uint32_t kCreateRulesetVersion = 1U << 0;
inline constexpr int kRulePathBeneath = 1;

// The ABI version, or -1 (ENOSYS: not built in; EOPNOTSUPP: not enabled at boot).
inline long abi_version() {
  return ::syscall(kCreateRulesetNumber, nullptr, std::size_t{0}, kCreateRulesetVersion);
}
inline long create_ruleset(const RulesetAttr& attr) {
  return ::syscall(kCreateRulesetNumber, &attr, sizeof attr, 0U);
}
inline long add_path_rule(int ruleset, const PathBeneathAttr& attr) {
  return ::syscall(kAddRuleNumber, ruleset, kRulePathBeneath, &attr, 0U);
}

// Confines the calling thread for good. It must have no_new_privs, or CAP_SYS_ADMIN.
inline long restrict_self(int ruleset) {
  return ::syscall(kRestrictSelfNumber, ruleset, 0U);
}

}  // namespace aasm::process::landlock
