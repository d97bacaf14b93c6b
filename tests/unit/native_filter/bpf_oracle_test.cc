#include <seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "bpf.h"
#include "bpf_eval.h"
#include "filter_policy.h"
#include "scheduling_judge.h"

// libseccomp as a second implementation: the same policy, compiled by it from the rules and not
// from our tables' decisions, must decide every call alike.
namespace aasm::backend_native {
namespace {

struct ReleaseContext {
  void operator()(void* context) const { seccomp_release(context); }
};
using Context = std::unique_ptr<void, ReleaseContext>;

std::vector<sock_filter> exported(const Context& context) {
  const int fd = ::memfd_create("oracle", MFD_CLOEXEC);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(seccomp_export_bpf(context.get(), fd), 0);
  const off_t size = ::lseek(fd, 0, SEEK_END);
  std::vector<sock_filter> program(static_cast<std::size_t>(size) / sizeof(sock_filter));
  EXPECT_EQ(::pread(fd, program.data(), static_cast<std::size_t>(size), 0), size);
  ::close(fd);
  return program;
}

// Foreign architectures and x32 are notified, as ours are.
Context context(std::uint32_t default_action) {
  Context made(seccomp_init(default_action));
  EXPECT_EQ(seccomp_attr_set(made.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY), 0);
  EXPECT_EQ(seccomp_attr_set(made.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2), 0);
  return made;
}

void add(const Context& made, std::uint32_t action, std::int32_t number,
         const std::vector<scmp_arg_cmp>& tests = {}) {
  EXPECT_EQ(seccomp_rule_add_array(made.get(), action, number, static_cast<unsigned>(tests.size()),
                                   tests.data()),
            0)
      << number;
}

scmp_arg_cmp low_half_is(unsigned argument, std::uint64_t value, std::uint64_t mask = 0xFFFFFFFF) {
  return scmp_arg_cmp{argument, SCMP_CMP_MASKED_EQ, mask, value};
}

// What self-protection closes, in libseccomp's words. For a policy with default allow.
void add_closed(const Context& made) {
  for (const ClosedCall& call : closed_calls()) {
    if (const auto number = syscall_number(call.name)) {
      add(made, SCMP_ACT_NOTIFY, *number);
    }
  }
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(ioctl), {low_half_is(1, 0x5412)});
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(ioctl), {low_half_is(1, 0x541C)});
  for (const std::uint64_t flag : {0x00020000U, 0x02000000U, 0x04000000U, 0x08000000U, 0x10000000U,
                                   0x20000000U, 0x40000000U}) {
    add(made, SCMP_ACT_NOTIFY, SCMP_SYS(clone), {low_half_is(0, flag, flag)});
  }
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(prctl), {low_half_is(0, 22)});
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(prctl), {low_half_is(0, 35)});
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(prctl),
      {low_half_is(0, 4), scmp_arg_cmp{1, SCMP_CMP_EQ, 0, 0}});
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(seccomp), {low_half_is(0, 0)});
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(seccomp), {low_half_is(0, 1)});
}

// Of a call that changes scheduling: the caller as the one target. Of others any.
std::vector<scmp_arg_cmp> allowed_arguments(std::int32_t number) {
  switch (number) {
    case SYS_setpriority:
      return {low_half_is(0, 0), low_half_is(1, 0)};
    case SYS_ioprio_set:
      return {low_half_is(0, 1), low_half_is(1, 0)};
    case SYS_sched_setaffinity:
    case SYS_sched_setattr:
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
      return {low_half_is(0, 0)};
    default:
      return {};
  }
}

void expect_alike(const std::vector<sock_filter>& ours, const std::vector<sock_filter>& theirs,
                  const seccomp_data& call) {
  EXPECT_EQ(evaluate_filter(ours, call).value(), evaluate_filter(theirs, call).value())
      << "nr " << call.nr << " arch " << call.arch << " args " << call.args[0] << ' '
      << call.args[1];
}

const std::uint32_t kArchitectures[] = {AUDIT_ARCH_X86_64, AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, 0};

class BpfOracleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kNativeArch != SyscallArch::kX86_64) {
      GTEST_SKIP() << "the oracle's policy is written for x86_64";
    }
    if (seccomp_api_get() < 5) {
      ASSERT_EQ(seccomp_api_set(6), 0) << "libseccomp cannot notify here";
    }
  }
};

TEST_F(BpfOracleTest, AllowListIsDecidedAlikeForEveryNumberAndArchitecture) {
  const Context made = context(SCMP_ACT_NOTIFY);
  std::size_t added = 0;
  for (const std::string_view name : expand_group("@default")) {
    const std::int32_t number = number_of(name);
    if (number == SYS_ioctl || number == SYS_clone || number == SYS_prctl ||
        number == SYS_seccomp || number == SYS_prlimit64) {
      continue;  // judged by argument: the next test
    }
    add(made, SCMP_ACT_ALLOW, number, allowed_arguments(number));
    ++added;
  }
  ASSERT_GT(added, 250U);
  schema::Requirement policy =
      syscall_policy({"@default"}, {"ioctl", "clone", "prctl", "seccomp", "prlimit64"});
  const std::vector<sock_filter> ours = build_filter(spec_of(policy));
  const std::vector<sock_filter> theirs = exported(made);
  ASSERT_GT(theirs.size(), 250U);
  for (const std::uint32_t arch : kArchitectures) {
    for (std::int32_t number = 0; number <= 600; ++number) {
      seccomp_data call = native_call(number);
      call.arch = arch;
      expect_alike(ours, theirs, call);
      call.nr |= 0x40000000;
      expect_alike(ours, theirs, call);
    }
  }
  const std::uint64_t words[] = {0, 1, 2, 3, 0xFFFFFFFF, 1ULL << 32U, (1ULL << 32U) | 1, ~0ULL};
  for (const std::int32_t number : scheduling_calls()) {
    for (const std::uint64_t first : words) {
      for (const std::uint64_t second : words) {
        expect_alike(ours, theirs, native_call(number, {first, second}));
      }
    }
  }
}

TEST_F(BpfOracleTest, ClosedCallsAndArgumentTestsAreDecidedAlike) {
  const Context made = context(SCMP_ACT_ALLOW);
  add_closed(made);
  // libseccomp has no "other than this" for half a register: these are denied whole.
  schema::Requirement policy =
      open_policy({"prlimit64", "setpriority", "ioprio_set", "sched_setaffinity", "sched_setattr",
                   "sched_setparam", "sched_setscheduler"});
  add(made, SCMP_ACT_NOTIFY, SCMP_SYS(prlimit64));
  for (const std::int32_t number : scheduling_calls()) {
    add(made, SCMP_ACT_NOTIFY, number);
  }
  const std::vector<sock_filter> ours = build_filter(spec_of(policy));
  const std::vector<sock_filter> theirs = exported(made);
  const std::uint64_t words[] = {0,
                                 1,
                                 2,
                                 3,
                                 4,
                                 17,
                                 21,
                                 22,
                                 23,
                                 35,
                                 0x5401,
                                 0x5411,
                                 0x5412,
                                 0x5413,
                                 0x541C,
                                 0x541D,
                                 0x00020000,
                                 0x02000000,
                                 0x04000000,
                                 0x08000000,
                                 0x10000000,
                                 0x20000000,
                                 0x40000000,
                                 0x80000000,
                                 0x003D0F00,
                                 1ULL << 32U,
                                 (1ULL << 32U) | 0x5412,
                                 (1ULL << 32U) | 4,
                                 ~0ULL};
  std::size_t compared = 0;
  for (std::int32_t number = 0; number <= 600; ++number) {
    for (const std::uint64_t first : words) {
      for (const std::uint64_t second : words) {
        expect_alike(ours, theirs, native_call(number, {first, second}));
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 500000U);
}

TEST_F(BpfOracleTest, OwnLimitsAreDecidedAlike) {
  const Context made = context(SCMP_ACT_NOTIFY);
  add(made, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), {low_half_is(0, 0)});
  add(made, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), {scmp_arg_cmp{2, SCMP_CMP_EQ, 0, 0}});
  const std::vector<sock_filter> ours = build_filter(spec_of(syscall_policy({"prlimit64"})));
  const std::vector<sock_filter> theirs = exported(made);
  for (const std::uint64_t pid : {0ULL, 1ULL, 1ULL << 32U, 0xFFFFFFFFULL}) {
    for (const std::uint64_t limits : {0ULL, 1ULL, 1ULL << 32U, 0xFFFFFFFFULL}) {
      expect_alike(ours, theirs, native_call(SYS_prlimit64, {pid, 7, limits, 0}));
    }
  }
}

}  // namespace
}  // namespace aasm::backend_native
