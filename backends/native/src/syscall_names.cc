#include "syscall_names.h"

#include <linux/audit.h>
#include <seccomp.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

namespace aasm::backend_native {
namespace {

using Entry = std::pair<std::string_view, std::int32_t>;

// Numbers of 403 and above are the same on every architecture.
constexpr std::array kEveryArch = {
    Entry{"cachestat", 451},         Entry{"fchmodat2", 452},
    Entry{"map_shadow_stack", 453},  Entry{"futex_wake", 454},
    Entry{"futex_wait", 455},        Entry{"futex_requeue", 456},
    Entry{"statmount", 457},         Entry{"listmount", 458},
    Entry{"lsm_get_self_attr", 459}, Entry{"lsm_set_self_attr", 460},
    Entry{"lsm_list_modules", 461},  Entry{"mseal", 462},
    Entry{"setxattrat", 463},        Entry{"getxattrat", 464},
    Entry{"listxattrat", 465},       Entry{"removexattrat", 466},
    Entry{"open_tree_attr", 467},    Entry{"file_getattr", 468},
    Entry{"file_setattr", 469},
};
constexpr std::array kOnlyX86_64 = {
    Entry{"uretprobe", 335},
    Entry{"uprobe", 336},
};

struct FreeDeleter {
  void operator()(char* text) const { std::free(text); }  // NOLINT: seccomp_*(3) says free(3)
};

std::uint32_t library_arch(SyscallArch arch) {
  switch (arch) {
    case SyscallArch::kX86_64:
      return SCMP_ARCH_X86_64;
    case SyscallArch::kX32:
      return SCMP_ARCH_X32;
    case SyscallArch::kI386:
      return SCMP_ARCH_X86;
    case SyscallArch::kAarch64:
      return SCMP_ARCH_AARCH64;
    case SyscallArch::kOther:
      break;
  }
  return SCMP_ARCH_NATIVE;
}

std::string_view supplement_name(SyscallArch arch, std::int32_t number) {
  for (const Entry& entry : kEveryArch) {
    if (entry.second == number) {
      return entry.first;
    }
  }
  if (arch == SyscallArch::kX86_64) {
    for (const Entry& entry : kOnlyX86_64) {
      if (entry.second == number) {
        return entry.first;
      }
    }
  }
  return {};
}

std::optional<std::int32_t> supplement_number(std::string_view name, SyscallArch arch) {
  for (const Entry& entry : kEveryArch) {
    if (entry.first == name) {
      return entry.second;
    }
  }
  if (arch == SyscallArch::kX86_64) {
    for (const Entry& entry : kOnlyX86_64) {
      if (entry.first == name) {
        return entry.second;
      }
    }
  }
  return std::nullopt;
}

// Empty when nobody knows the number.
std::string find_name(SyscallArch arch, std::int32_t number) {
  if (arch == SyscallArch::kOther || number < 0) {
    return {};
  }
  const std::unique_ptr<char, FreeDeleter> name(
      seccomp_syscall_resolve_num_arch(library_arch(arch), number));
  if (name != nullptr) {
    return name.get();
  }
  return std::string(supplement_name(arch, number));
}

}  // namespace

SyscallArch syscall_arch(std::uint32_t audit_arch, std::int32_t number) {
  switch (audit_arch) {
    case AUDIT_ARCH_X86_64:
      return number >= static_cast<std::int32_t>(kX32Bit) ? SyscallArch::kX32
                                                          : SyscallArch::kX86_64;
    case AUDIT_ARCH_I386:
      return SyscallArch::kI386;
    case AUDIT_ARCH_AARCH64:
      return SyscallArch::kAarch64;
    default:
      return SyscallArch::kOther;
  }
}

std::string_view arch_token(SyscallArch arch) {
  switch (arch) {
    case SyscallArch::kX86_64:
      return "x86_64";
    case SyscallArch::kX32:
      return "x32";
    case SyscallArch::kI386:
      return "i386";
    case SyscallArch::kAarch64:
      return "aarch64";
    case SyscallArch::kOther:
      break;
  }
  return "other";
}

std::string syscall_name(SyscallArch arch, std::int32_t number) {
  std::string name = find_name(arch, number);
  if (name.empty()) {
    name = "syscall_" + std::to_string(static_cast<std::uint32_t>(number));
  }
  return name;
}

std::optional<std::int32_t> syscall_number(std::string_view name) {
  const std::string text(name);
  const int number = seccomp_syscall_resolve_name_arch(library_arch(kNativeArch), text.c_str());
  if (number >= 0) {
    return number;
  }
  // Negative: either unknown, or libseccomp's mark of a call of other architectures.
  return supplement_number(name, kNativeArch);
}

bool known_syscall_name(std::string_view name) {
  const std::string text(name);
  return seccomp_syscall_resolve_name_arch(library_arch(kNativeArch), text.c_str()) !=
             __NR_SCMP_ERROR ||
         supplement_number(name, kNativeArch).has_value();
}

bool known_syscall_number(std::int32_t number) {
  return !find_name(kNativeArch, number).empty();
}

}  // namespace aasm::backend_native
