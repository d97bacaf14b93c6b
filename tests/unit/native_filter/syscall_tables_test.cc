#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "filter_policy.h"
#include "syscall_groups.h"
#include "syscall_names.h"

namespace aasm::backend_native {
namespace {

TEST(SyscallNamesTest, NumbersOfTheKernelHeadersResolveBothWays) {
  const std::pair<std::string_view, std::int32_t> known[] = {
      {"read", 0},     {"openat", 257},    {"ptrace", 101},           {"io_uring_setup", 425},
      {"clone3", 435}, {"fchmodat2", 452}, {"landlock_add_rule", 445}};
  if (kNativeArch != SyscallArch::kX86_64) {
    GTEST_SKIP() << "the numbers are those of x86_64";
  }
  for (const auto& [name, number] : known) {
    EXPECT_EQ(syscall_number(name), number) << name;
    EXPECT_EQ(syscall_name(kNativeArch, number), name);
    EXPECT_TRUE(known_syscall_number(number)) << name;
  }
}

TEST(SyscallNamesTest, CallsNewerThanLibseccompHaveNames) {
  EXPECT_EQ(syscall_name(kNativeArch, 462), "mseal");
  EXPECT_EQ(syscall_number("file_setattr"), 469);
  EXPECT_EQ(syscall_number("statmount"), 457);
  EXPECT_EQ(syscall_name(SyscallArch::kX86_64, 335), "uretprobe");
  EXPECT_EQ(syscall_name(SyscallArch::kX86_64, 336), "uprobe");
}

TEST(SyscallNamesTest, NumberWithoutANameIsNamedByItsNumber) {
  EXPECT_EQ(syscall_name(kNativeArch, 4095), "syscall_4095");
  EXPECT_EQ(syscall_name(kNativeArch, -1), "syscall_4294967295");
  EXPECT_EQ(syscall_name(SyscallArch::kOther, 3), "syscall_3");
  EXPECT_FALSE(known_syscall_number(4095));
  EXPECT_FALSE(known_syscall_number(470));
  EXPECT_FALSE(known_syscall_number(-1));
}

TEST(SyscallNamesTest, NamesOfOtherArchitecturesAreKnownButHaveNoNumberHere) {
  EXPECT_TRUE(known_syscall_name("socketcall"));
  EXPECT_FALSE(syscall_number("socketcall").has_value());
}

TEST(SyscallNamesTest, MisspelledNameIsUnknown) {
  for (const std::string_view name :
       {"", "Read", "read ", "syscall_0", "opneat", "@default", "sys_read"}) {
    EXPECT_FALSE(known_syscall_name(name)) << name;
    EXPECT_FALSE(syscall_number(name).has_value()) << name;
  }
}

TEST(SyscallNamesTest, ArchitectureIsReadFromTokenAndX32Bit) {
  EXPECT_EQ(syscall_arch(AUDIT_ARCH_X86_64, 1), SyscallArch::kX86_64);
  EXPECT_EQ(syscall_arch(AUDIT_ARCH_X86_64, 0x40000001), SyscallArch::kX32);
  EXPECT_EQ(syscall_arch(AUDIT_ARCH_I386, 1), SyscallArch::kI386);
  EXPECT_EQ(syscall_arch(AUDIT_ARCH_AARCH64, 1), SyscallArch::kAarch64);
  EXPECT_EQ(syscall_arch(AUDIT_ARCH_S390X, 1), SyscallArch::kOther);
  EXPECT_EQ(syscall_name(SyscallArch::kI386, 26), "ptrace");
  EXPECT_EQ(arch_token(SyscallArch::kX32), "x32");
}

TEST(SyscallGroupsTest, EveryCallOfEveryGroupIsACallWithAReason) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const GroupCall& call : group_calls()) {
    EXPECT_TRUE(known_syscall_name(call.name)) << call.name;
    EXPECT_GE(call.reason.size(), 5U) << call.name;
    EXPECT_EQ(call.reason.back(), '.') << call.name;
    EXPECT_TRUE(seen.emplace(call.group, call.name).second) << call.name << " stands twice";
  }
}

TEST(SyscallGroupsTest, DefaultHoldsNothingThatSelfProtectionCloses) {
  for (const std::string_view name : expand_group("@default")) {
    EXPECT_EQ(find_closed_call(name), nullptr) << name;
  }
}

TEST(SyscallGroupsTest, OpenableCallsAreThoseOfDebug) {
  std::set<std::string_view> openable;
  for (const ClosedCall& call : closed_calls()) {
    EXPECT_TRUE(known_syscall_name(call.name)) << call.name;
    EXPECT_EQ(call.reason.back(), '.') << call.name;
    if (call.openable) {
      openable.insert(call.name);
    }
  }
  const std::vector<std::string_view> debug = expand_group("@debug");
  EXPECT_EQ(openable, std::set<std::string_view>(debug.begin(), debug.end()));
}

TEST(SyscallGroupsTest, CallsTheDesignClosesAreClosed) {
  for (const std::string_view name :
       {"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "unshare", "setns",
        "mount", "umount2", "move_mount", "bpf", "userfaultfd", "keyctl", "io_uring_setup",
        "clone3", "landlock_restrict_self"}) {
    EXPECT_NE(find_closed_call(name), nullptr) << name;
  }
}

TEST(SyscallGroupsTest, VocabularyKnowsNamesAndGroupsApart) {
  const NativeSyscallVocabulary vocabulary;
  EXPECT_TRUE(vocabulary.known_name("openat"));
  EXPECT_TRUE(vocabulary.known_group("@default"));
  EXPECT_FALSE(vocabulary.known_name("@default"));
  EXPECT_FALSE(vocabulary.known_group("openat"));
  EXPECT_FALSE(vocabulary.known_group("@defaults"));
  EXPECT_FALSE(vocabulary.known_group("default"));
  const std::vector<std::string> words = vocabulary.suggestions();
  EXPECT_NE(std::find(words.begin(), words.end(), "@ipc"), words.end());
  EXPECT_NE(std::find(words.begin(), words.end(), "mseal"), words.end());
}

TEST(SyscallDocsTest, CommittedDocumentIsWhatTheTablesSay) {
  const std::string command = "python3 '" AASM_SOURCE_DIR "/scripts/gen-syscall-docs' --check";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace aasm::backend_native
