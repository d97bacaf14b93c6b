#include "bpf.h"

#include <sys/syscall.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bpf_eval.h"
#include "filter_policy.h"
#include "syscall_groups.h"

namespace aasm::backend_native {
namespace {

constexpr std::int32_t kHighest = 600;
constexpr std::uint32_t kForeign[] = {AUDIT_ARCH_I386, AUDIT_ARCH_S390X, 0};

bool allows(const std::vector<sock_filter>& program, const seccomp_data& call) {
  const std::uint32_t action = evaluate_filter(program, call).value();
  EXPECT_TRUE(action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_USER_NOTIF) << action;
  return action == SECCOMP_RET_ALLOW;
}

struct Case {
  const char* what;
  FilterSpec spec;
};

std::vector<Case> cases() {
  // A list that alternates makes the longest tree, whose jumps do not fit into 8 bits.
  std::vector<std::string> odd;
  for (std::int32_t number = 1; number <= 460; number += 2) {
    if (known_syscall_number(number)) {
      odd.push_back(syscall_name(kNativeArch, number));
    }
  }
  std::vector<Case> all;
  all.push_back({"unstated", unstated_spec()});
  all.push_back({"@default", spec_of(syscall_policy({"@default"}))});
  all.push_back({"all groups", spec_of(syscall_policy({"@default", "@debug", "@ipc"}))});
  all.push_back({"allow less deny", spec_of(syscall_policy({"@default"}, {"chmod", "ioctl"}))});
  all.push_back({"deny only", spec_of(open_policy({"chmod", "ptrace", "io_setup"}))});
  all.push_back({"nothing", spec_of(syscall_policy({}))});
  all.push_back({"alternating",
                 spec_of(syscall_policy(std::vector<std::string_view>(odd.begin(), odd.end())))});
  return all;
}

TEST(BpfTest, EveryNumberIsDecidedAsTheSpecSays) {
  for (const Case& policy : cases()) {
    const std::vector<sock_filter> program = build_filter(policy.spec);
    for (std::int32_t number = 0; number <= kHighest; ++number) {
      // With all arguments zero, the argument tests notify prctl(PR_SET_DUMPABLE) no, seccomp and
      // ioprio_set yes.
      const NumberAction action = number_action(policy.spec, number);
      const bool expected = action != NumberAction::kNotify &&
                            action != NumberAction::kJudgeSeccomp &&
                            action != NumberAction::kJudgeIoPriority;
      EXPECT_EQ(allows(program, native_call(number)), expected) << policy.what << ' ' << number;
    }
  }
}

// The expectation is written down here once more, by name, independent of number_action().
TEST(BpfTest, DefaultGroupAllowsItsCallsAndNoOthers) {
  const std::vector<sock_filter> program = build_filter(spec_of(syscall_policy({"@default"})));
  std::vector<bool> listed(kHighest + 1, false);
  for (const std::string_view name : expand_group("@default")) {
    if (const auto number = syscall_number(name)) {
      listed.at(static_cast<std::size_t>(*number)) = true;
    }
  }
  listed[SYS_seccomp] = false;     // operation 0 sets a filter mode
  listed[SYS_ioprio_set] = false;  // target 0 is none that the kernel knows
  for (std::int32_t number = 0; number <= kHighest; ++number) {
    EXPECT_EQ(allows(program, native_call(number)), listed[static_cast<std::size_t>(number)])
        << syscall_name(kNativeArch, number);
  }
}

TEST(BpfTest, X32AndOtherArchitecturesAreNotifiedForEveryNumber) {
  for (const Case& policy : cases()) {
    const std::vector<sock_filter> program = build_filter(policy.spec);
    for (std::int32_t number = 0; number <= kHighest; ++number) {
      seccomp_data call = native_call(number | static_cast<std::int32_t>(kX32Bit));
      EXPECT_FALSE(allows(program, call)) << policy.what << " x32 " << number;
      for (const std::uint32_t arch : kForeign) {
        call = native_call(number);
        call.arch = arch;
        EXPECT_FALSE(allows(program, call)) << policy.what << ' ' << arch << ' ' << number;
      }
    }
    for (const std::int32_t number : {-1, INT32_MIN, INT32_MAX}) {
      EXPECT_FALSE(allows(program, native_call(number))) << policy.what << ' ' << number;
    }
  }
}

TEST(BpfTest, RendezvousIsNotifiedAndItsNeighboursFollowTheDefault) {
  const std::vector<sock_filter> open = build_filter(unstated_spec());
  EXPECT_TRUE(allows(open, native_call(0xAA50)));
  EXPECT_FALSE(allows(open, native_call(0xAA51)));
  EXPECT_TRUE(allows(open, native_call(0xAA52)));
  EXPECT_TRUE(allows(open, native_call(0x3FFFFFFF)));
}

struct ArgumentRow {
  const char* what;
  std::int32_t number;
  std::vector<std::uint64_t> args;
  bool allowed;
};

TEST(BpfTest, ArgumentRegistersDecide) {
  const std::uint64_t high = 1ULL << 32U;
  const ArgumentRow rows[] = {
      {"TCGETS", SYS_ioctl, {0, 0x5401}, true},
      {"TIOCSTI", SYS_ioctl, {0, 0x5412}, false},
      {"TIOCSTI with high bits, which the kernel drops", SYS_ioctl, {0, high | 0x5412}, false},
      {"TIOCLINUX", SYS_ioctl, {0, 0x541C}, false},
      {"between the two", SYS_ioctl, {0, 0x5413}, true},
      {"TIOCSTI as another argument", SYS_ioctl, {0x5412, 0x5401, 0x5412}, true},
      {"fork", SYS_clone, {17}, true},
      {"thread", SYS_clone, {0x3D0F00}, true},
      {"vfork", SYS_clone, {0x4111}, true},
      {"CLONE_NEWNS", SYS_clone, {0x00020000}, false},
      {"CLONE_NEWCGROUP", SYS_clone, {0x02000000}, false},
      {"CLONE_NEWUTS", SYS_clone, {0x04000000}, false},
      {"CLONE_NEWIPC", SYS_clone, {0x08000000}, false},
      {"CLONE_NEWUSER", SYS_clone, {0x10000000 | 17}, false},
      {"CLONE_NEWPID", SYS_clone, {0x20000000}, false},
      {"CLONE_NEWNET", SYS_clone, {0x40000000}, false},
      {"CLONE_NEWUSER with high bits", SYS_clone, {high | 0x10000000}, false},
      {"CLONE_IO, the bit above", SYS_clone, {0x80000000U | 17}, true},
      {"PR_SET_NAME", SYS_prctl, {15, 0}, true},
      {"PR_SET_DUMPABLE 1", SYS_prctl, {4, 1}, true},
      {"PR_SET_DUMPABLE 0", SYS_prctl, {4, 0}, false},
      {"PR_SET_DUMPABLE of more than 32 bits", SYS_prctl, {4, high}, true},
      {"PR_SET_DUMPABLE 0 with high option bits", SYS_prctl, {high | 4, 0}, false},
      {"PR_SET_SECCOMP", SYS_prctl, {22, 2}, false},
      {"PR_GET_SECCOMP", SYS_prctl, {21}, true},
      {"PR_SET_MM", SYS_prctl, {35, 13}, false},
      {"SECCOMP_SET_MODE_STRICT", SYS_seccomp, {0}, false},
      {"SECCOMP_SET_MODE_FILTER", SYS_seccomp, {1}, false},
      {"SECCOMP_SET_MODE_FILTER with high bits", SYS_seccomp, {high | 1}, false},
      {"SECCOMP_GET_ACTION_AVAIL", SYS_seccomp, {2}, true},
      {"SECCOMP_GET_NOTIF_SIZES", SYS_seccomp, {3}, true},
      {"own priority", SYS_setpriority, {0, 0, 19}, true},
      {"own priority with high bits", SYS_setpriority, {high, high, 19}, true},
      {"another's priority", SYS_setpriority, {0, 1, 19}, false},
      {"the group's priority", SYS_setpriority, {1, 0, 19}, false},
      {"the user's priority", SYS_setpriority, {2, 0, 19}, false},
      {"own I/O priority", SYS_ioprio_set, {1, 0, 0x6000}, true},
      {"another's I/O priority", SYS_ioprio_set, {1, 1, 0x6000}, false},
      {"the group's I/O priority", SYS_ioprio_set, {2, 0, 0x6000}, false},
      {"no target known to the kernel", SYS_ioprio_set, {0, 0, 0x6000}, false},
      {"own processors", SYS_sched_setaffinity, {0, 8, 0x1000}, true},
      {"another's processors", SYS_sched_setaffinity, {1, 8, 0x1000}, false},
      {"own policy", SYS_sched_setscheduler, {high, 5, 0x1000}, true},
      {"another's policy", SYS_sched_setscheduler, {1, 5, 0x1000}, false},
      {"another's parameters", SYS_sched_setparam, {1, 0x1000}, false},
      {"another's attributes", SYS_sched_setattr, {1, 0x1000, 0}, false},
      {"asking for another's", SYS_sched_getattr, {1, 0x1000, 56, 0}, true},
      {"own limits", SYS_prlimit64, {0, 7, 0x1000, 0}, true},
      {"reading another's limits", SYS_prlimit64, {1, 7, 0, 0x1000}, true},
      {"setting another's limits", SYS_prlimit64, {1, 7, 0x1000, 0}, false},
      {"own pid spelled with high bits", SYS_prlimit64, {high, 7, 0x1000}, true},
      {"new limits at a high address", SYS_prlimit64, {1, 7, high, 0}, false},
  };
  for (const FilterSpec& spec : {unstated_spec(), spec_of(syscall_policy({"@default"}))}) {
    const std::vector<sock_filter> program = build_filter(spec);
    for (const ArgumentRow& row : rows) {
      seccomp_data call = native_call(row.number);
      std::copy(row.args.begin(), row.args.end(), std::begin(call.args));
      EXPECT_EQ(allows(program, call), row.allowed) << row.what;
    }
  }
}

TEST(BpfTest, ProgramStaysFarBelowTheKernelsLimit) {
  for (const Case& policy : cases()) {
    EXPECT_LT(build_filter(policy.spec).size(), 2000U) << policy.what;
  }
  EXPECT_LE(build_filter(spec_of(syscall_policy({"@default"}))).size(), 240U);
}

TEST(BpfTest, BytesAreTheInstructionsInLittleEndianOrder) {
  const std::vector<sock_filter> program = {{0x1234, 5, 6, 0x0A0B0C0D}};
  EXPECT_EQ(filter_bytes(program), (schema::Bytes{0x34, 0x12, 5, 6, 0x0D, 0x0C, 0x0B, 0x0A}));
}

TEST(BpfTest, DetailNamesWhatRunsOrWhatDoesNot) {
  const FilterSpec listed = spec_of(syscall_policy({"write", "read", "mount"}, {"write"}));
  const schema::SeccompDetail allow_list = seccomp_detail(listed, build_filter(listed));
  EXPECT_EQ(allow_list.default_action, "notify");
  EXPECT_EQ(allow_list.allowed, std::vector<std::string>{"read"});
  EXPECT_TRUE(allow_list.denied.empty());

  const FilterSpec open = spec_of(open_policy({"chmod"}));
  const schema::SeccompDetail deny_list = seccomp_detail(open, build_filter(open));
  EXPECT_EQ(deny_list.default_action, "allow");
  EXPECT_TRUE(deny_list.allowed.empty());
  EXPECT_EQ(deny_list.denied.size(), closed_calls().size() + 1);
  EXPECT_NE(deny_list.program, allow_list.program);
  EXPECT_EQ(deny_list.instructions, static_cast<std::int64_t>(build_filter(open).size()));
}

}  // namespace
}  // namespace aasm::backend_native
