#include "classify.h"

#include <sys/syscall.h>

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bpf.h"
#include "bpf_eval.h"
#include "filter_policy.h"

namespace aasm::backend_native {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;

constexpr std::int64_t kTid = 43;
constexpr std::int64_t kPid = 42;

NotifiedCall call(std::int32_t number, const std::initializer_list<std::uint64_t>& args = {}) {
  return {native_call(number, args), kTid, kPid};
}

struct Row {
  const char* what;
  NotifiedCall call;
  AnswerKind answer;
  int os_errno;
  DecisionCause cause;
  const char* rule;
};

void expect_rows(const std::vector<Row>& rows, const FilterSpec& spec) {
  const std::vector<sock_filter> program = build_filter(spec);
  for (const Row& row : rows) {
    EXPECT_EQ(evaluate_filter(program, row.call.data).value(), SECCOMP_RET_USER_NOTIF)
        << row.what << " is never notified";
    const Classification result = classify(row.call, spec);
    EXPECT_EQ(result.answer, row.answer) << row.what;
    EXPECT_EQ(result.event.os_errno, row.os_errno) << row.what;
    EXPECT_EQ(result.event.cause, row.cause) << row.what;
    EXPECT_EQ(result.event.rule, row.rule) << row.what;
    EXPECT_TRUE(result.recorded) << row.what;
  }
}

constexpr auto kRefuse = AnswerKind::kRefuse;
constexpr auto kPolicy = DecisionCause::kPolicy;
constexpr auto kCompat = DecisionCause::kCompat;

NotifiedCall foreign(std::uint32_t arch, std::int32_t number) {
  NotifiedCall made = call(number);
  made.data.arch = arch;
  return made;
}

TEST(ClassifyTest, AllowListAnswersAsTheDesignSays) {
  const FilterSpec spec =
      spec_of(syscall_policy({"@default", "mount"}, {"chmod", "io_uring_setup", "ptrace"}));
  expect_rows(
      {
          {"unlisted", call(SYS_shmget), kRefuse, EPERM, kPolicy, "syscalls.allow"},
          {"named by deny", call(SYS_chmod), kRefuse, EPERM, kPolicy, "syscalls.deny[0]"},
          {"closed, named by deny", call(SYS_ptrace), kRefuse, EPERM, kPolicy, "syscalls.deny[2]"},
          {"closed and unlisted", call(SYS_bpf), kRefuse, EPERM, kPolicy, "syscalls.allow"},
          {"closed although listed", call(SYS_mount), kRefuse, EPERM, kPolicy,
           "self_protection.mount"},
          {"clone3", call(SYS_clone3), kRefuse, ENOSYS, kCompat, "compat.clone3"},
          {"io_uring_setup named by deny", call(SYS_io_uring_setup), kRefuse, EPERM, kPolicy,
           "syscalls.deny[1]"},
          {"io_uring_enter", call(SYS_io_uring_enter), kRefuse, ENOSYS, kCompat,
           "compat.io_uring_enter"},
          {"landlock", call(445), kRefuse, EOPNOTSUPP, kCompat, "compat.landlock_add_rule"},
          {"unknown number", call(4095), kRefuse, ENOSYS, kPolicy, "syscalls.allow"},
          {"rendezvous", call(0xAA51), kRefuse, ENOSYS, kPolicy, "syscalls.allow"},
          {"i386", foreign(AUDIT_ARCH_I386, 3), kRefuse, ENOSYS, kPolicy, "syscalls.allow"},
          {"x32", call(0x40000000), kRefuse, ENOSYS, kPolicy, "syscalls.allow"},
          {"negative", call(-1), kRefuse, ENOSYS, kPolicy, "syscalls.allow"},
          {"TIOCSTI", call(SYS_ioctl, {0, 0x5412}), kRefuse, EPERM, kPolicy,
           "self_protection.tiocsti"},
          {"TIOCLINUX", call(SYS_ioctl, {0, 0x541C}), kRefuse, EPERM, kPolicy,
           "self_protection.tioclinux"},
          {"CLONE_NEWUSER", call(SYS_clone, {0x10000000}), kRefuse, EPERM, kPolicy,
           "self_protection.clone_namespaces"},
          {"PR_SET_MM", call(SYS_prctl, {35}), kRefuse, EPERM, kPolicy,
           "self_protection.prctl_set_mm"},
          {"another's limits", call(SYS_prlimit64, {1, 7, 0x1000}), kRefuse, EPERM, kPolicy,
           "self_protection.prlimit_other"},
          {"another's priority", call(SYS_setpriority, {0, 1, 19}), AnswerKind::kUnlessInside,
           EPERM, kPolicy, "self_protection.scheduling_other"},
          {"a group's priority", call(SYS_setpriority, {1, 0, 19}), kRefuse, EPERM, kPolicy,
           "self_protection.scheduling_other"},
          {"a user's priority", call(SYS_setpriority, {2, 0, 19}), kRefuse, EPERM, kPolicy,
           "self_protection.scheduling_other"},
          {"another's I/O priority", call(SYS_ioprio_set, {1, 1, 0x6000}),
           AnswerKind::kUnlessInside, EPERM, kPolicy, "self_protection.scheduling_other"},
          {"a group's I/O priority", call(SYS_ioprio_set, {2, 0, 0x6000}), kRefuse, EPERM, kPolicy,
           "self_protection.scheduling_other"},
          {"another's processors", call(SYS_sched_setaffinity, {1, 8, 0x1000}),
           AnswerKind::kUnlessInside, EPERM, kPolicy, "self_protection.scheduling_other"},
          {"no process at all", call(SYS_sched_setattr, {0xFFFFFFFF, 0x1000, 0}), kRefuse, EPERM,
           kPolicy, "self_protection.scheduling_other"},
          {"PR_SET_DUMPABLE 0", call(SYS_prctl, {4, 0}), AnswerKind::kEmulate, 0, kCompat,
           "compat.set_dumpable"},
          {"PR_SET_SECCOMP", call(SYS_prctl, {22, 2}), AnswerKind::kContinue, 0, kCompat,
           "compat.nested_filter"},
          {"SECCOMP_SET_MODE_FILTER", call(SYS_seccomp, {1}), AnswerKind::kContinue, 0, kCompat,
           "compat.nested_filter"},
      },
      spec);
}

TEST(ClassifyTest, UnstatedDomainIsClosedBySelfProtectionOnly) {
  expect_rows(
      {
          {"ptrace", call(SYS_ptrace), kRefuse, EPERM, kPolicy, "self_protection.ptrace"},
          {"unshare", call(SYS_unshare), kRefuse, EPERM, kPolicy, "self_protection.unshare"},
          {"clone3", call(SYS_clone3), kRefuse, ENOSYS, kCompat, "compat.clone3"},
          {"rendezvous", call(0xAA51), kRefuse, ENOSYS, kPolicy, "self_protection.rendezvous"},
          {"i386", foreign(AUDIT_ARCH_I386, 3), kRefuse, ENOSYS, kPolicy,
           "self_protection.foreign_architecture"},
          {"x32", call(0x40000000), kRefuse, ENOSYS, kPolicy,
           "self_protection.foreign_architecture"},
          {"TIOCSTI", call(SYS_ioctl, {0, 0x5412}), kRefuse, EPERM, kPolicy,
           "self_protection.tiocsti"},
      },
      unstated_spec());
}

TEST(ClassifyTest, DenyFromAnOpenListCitesItsRuleAndLeavesTheRestToSelfProtection) {
  expect_rows(
      {
          {"chmod", call(SYS_chmod), kRefuse, EPERM, kPolicy, "syscalls.deny[0]"},
          {"mount", call(SYS_mount), kRefuse, EPERM, kPolicy, "self_protection.mount"},
          {"x32", call(0x40000000), kRefuse, ENOSYS, kPolicy,
           "self_protection.foreign_architecture"},
      },
      spec_of(open_policy({"chmod"})));
}

TEST(ClassifyTest, OnlyRulesOfThePolicyKill) {
  const FilterSpec spec = spec_of(syscall_policy({"@default", "mount"}, {"chmod"}), "kill");
  for (const NotifiedCall& denied :
       {call(SYS_shmget), call(SYS_chmod), call(4095), call(0x40000000)}) {
    const Classification result = classify(denied, spec);
    EXPECT_EQ(result.answer, AnswerKind::kKill) << result.event.object.name;
    EXPECT_EQ(result.event.os_errno, 0);
    EXPECT_GT(result.fallback_errno, 0);
    EXPECT_EQ(result.event.cause, kPolicy);
  }
  for (const NotifiedCall& ours : {call(SYS_mount), call(SYS_clone3), call(SYS_ioctl, {0, 0x5412}),
                                   call(SYS_prctl, {4, 0}), call(SYS_seccomp, {1})}) {
    EXPECT_NE(classify(ours, spec).answer, AnswerKind::kKill) << ours.data.nr;
  }
}

TEST(ClassifyTest, OwnLimitsRunWithoutARecordAndOthersDoNot) {
  const FilterSpec spec = spec_of(syscall_policy({"@default"}));
  for (const std::uint64_t own : {std::uint64_t{kTid}, std::uint64_t{kPid}}) {
    const Classification result = classify(call(SYS_prlimit64, {own, 7, 0x1000}), spec);
    EXPECT_EQ(result.answer, AnswerKind::kContinue);
    EXPECT_FALSE(result.recorded);
  }
  for (const std::uint64_t other : {std::uint64_t{41}, std::uint64_t{0xFFFFFFFF}}) {
    EXPECT_EQ(classify(call(SYS_prlimit64, {other, 7, 0x1000}), spec).answer, kRefuse);
  }
  // A caller whose process could not be read has no number that may match.
  NotifiedCall unread = call(SYS_prlimit64, {0, 7, 0x1000});
  unread.pid = 0;
  EXPECT_EQ(classify(unread, spec).answer, kRefuse);
}

TEST(ClassifyTest, CallTheProgramWouldHaveAllowedIsAFaultAndRefused) {
  const FilterSpec spec = spec_of(syscall_policy({"@default"}));
  for (const NotifiedCall& strange :
       {call(SYS_read), call(SYS_ioctl, {0, 0x5401}), call(SYS_clone, {17}),
        call(SYS_prctl, {4, 1}), call(SYS_prctl, {15}), call(SYS_seccomp, {2})}) {
    const Classification result = classify(strange, spec);
    EXPECT_EQ(result.answer, kRefuse) << strange.data.nr;
    EXPECT_EQ(result.event.cause, DecisionCause::kFault) << strange.data.nr;
    EXPECT_EQ(result.event.os_errno, EPERM);
  }
}

TEST(ClassifyTest, EventSaysWhatWasCalledAndHow) {
  const FilterSpec spec = spec_of(syscall_policy({"@default"}));
  const schema::Event event = classify(call(SYS_shmget), spec).event;
  EXPECT_EQ(event.domain, schema::Domain::kSyscall);
  EXPECT_EQ(event.operation, "call");
  EXPECT_EQ(event.object.name, "shmget");
  EXPECT_EQ(event.object.number, SYS_shmget);
  EXPECT_EQ(event.object.arch, "x86_64");
  EXPECT_EQ(event.outcome, DecisionOutcome::kDenied);
  EXPECT_EQ(event.timing, schema::Timing::kPre);
  EXPECT_EQ(event.synchrony, schema::Synchrony::kSync);
  EXPECT_EQ(event.mechanism, "seccomp_user_notification");
  EXPECT_FALSE(event.nested_filter);

  EXPECT_EQ(classify(foreign(AUDIT_ARCH_I386, 26), spec).event.object.name, "ptrace");
  EXPECT_EQ(classify(foreign(AUDIT_ARCH_I386, 26), spec).event.object.arch, "i386");
  EXPECT_EQ(classify(call(0x40000000), spec).event.object.arch, "x32");
  EXPECT_EQ(classify(call(4095), spec).event.object.name, "syscall_4095");
  EXPECT_EQ(classify(call(SYS_prctl, {4, 0}), spec).event.outcome, DecisionOutcome::kEmulated);
  const schema::Event nested = classify(call(SYS_seccomp, {1}), spec).event;
  EXPECT_EQ(nested.outcome, DecisionOutcome::kAllowed);
  EXPECT_TRUE(nested.nested_filter);
}

// Whatever the program notifies, the answer is one the design knows: nothing runs but the three
// calls judged by registers alone.
TEST(ClassifyTest, EveryNotifiedNumberIsRefusedUnlessRegistersSayOtherwise) {
  const std::vector<FilterSpec> specs = {unstated_spec(), spec_of(syscall_policy({"@default"})),
                                         spec_of(syscall_policy({}))};
  for (const FilterSpec& spec : specs) {
    const std::vector<sock_filter> program = build_filter(spec);
    for (std::int32_t number = 0; number <= 600; ++number) {
      const NotifiedCall tried = call(number);
      if (evaluate_filter(program, tried.data).value() == SECCOMP_RET_ALLOW) {
        continue;
      }
      const Classification result = classify(tried, spec);
      if (number == SYS_seccomp && spec.policy_allows(number)) {
        EXPECT_EQ(result.answer, AnswerKind::kContinue);
        continue;
      }
      EXPECT_EQ(result.answer, kRefuse) << number;
      EXPECT_GT(result.event.os_errno, 0) << number;
      EXPECT_NE(result.event.cause, DecisionCause::kFault) << number;
      EXPECT_EQ(result.event.os_errno == EPERM,
                known_syscall_number(number) && result.event.cause == kPolicy)
          << number;
    }
  }
}

}  // namespace
}  // namespace aasm::backend_native
