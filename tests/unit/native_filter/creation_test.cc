#include <sys/syscall.h>

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

#include "bpf.h"
#include "bpf_eval.h"
#include "classify.h"
#include "filter_policy.h"

namespace aasm::backend_native {
namespace {

constexpr std::uint64_t kCloneVm = 0x100;
constexpr std::uint64_t kCloneVfork = 0x4000;
constexpr std::uint64_t kCloneThreadFlag = 0x10000;
constexpr std::uint64_t kCloneNewUser = 0x10000000;

FilterSpec ceiling_spec(std::int64_t max) {
  FilterSpec spec = spec_of(syscall_policy({"@default"}));
  spec.ceiling = ProcessCeiling{max, "processes.max"};
  return spec;
}

NotifiedCall call(std::int32_t number, const std::initializer_list<std::uint64_t>& args = {}) {
  return {native_call(number, args), 43, 42};
}

struct CreationRow {
  const char* what;
  NotifiedCall call;
  bool notified;
  bool counted;
};

const std::vector<CreationRow>& creations() {
  static const std::vector<CreationRow> rows = {
      {"fork", call(SYS_fork), true, true},
      {"vfork", call(SYS_vfork), true, true},
      {"clone of a process", call(SYS_clone, {SIGCHLD}), true, true},
      {"clone as vfork", call(SYS_clone, {kCloneVm | kCloneVfork | SIGCHLD}), true, true},
      {"the high half of the flags", call(SYS_clone, {std::uint64_t{kCloneThreadFlag} << 32}), true,
       true},
      {"a thread", call(SYS_clone, {kCloneVm | kCloneThreadFlag}), false, false},
      {"a thread in a namespace", call(SYS_clone, {kCloneThreadFlag | kCloneNewUser}), true, false},
      {"a namespace", call(SYS_clone, {kCloneNewUser}), true, false},
      {"clone3", call(SYS_clone3), true, false},
      {"another call", call(SYS_read), false, false},
  };
  return rows;
}

TEST(CreationTest, ProcessesAreNotifiedAndCountedAndThreadsAreNot) {
  const FilterSpec spec = ceiling_spec(4);
  const std::vector<sock_filter> program = build_filter(spec);
  for (const CreationRow& row : creations()) {
    EXPECT_EQ(evaluate_filter(program, row.call.data).value() == SECCOMP_RET_USER_NOTIF,
              row.notified)
        << row.what;
    EXPECT_EQ(creates_process(row.call.data, spec), row.counted) << row.what;
  }
}

TEST(CreationTest, WithoutACeilingNothingIsCounted) {
  const FilterSpec spec = spec_of(syscall_policy({"@default"}));
  const std::vector<sock_filter> program = build_filter(spec);
  for (const CreationRow& row : creations()) {
    EXPECT_FALSE(creates_process(row.call.data, spec)) << row.what;
  }
  EXPECT_EQ(evaluate_filter(program, native_call(SYS_fork)).value(), SECCOMP_RET_ALLOW);
}

TEST(CreationTest, ARefusalCitesTheCeilingInItsOwnDomain) {
  for (const std::int64_t max : {0, 4}) {
    const Classification verdict = classify(call(SYS_vfork), ceiling_spec(max));
    EXPECT_EQ(verdict.answer, AnswerKind::kRefuse);
    EXPECT_TRUE(verdict.recorded);
    EXPECT_EQ(verdict.event.domain, schema::Domain::kProcessCreation);
    EXPECT_EQ(verdict.event.operation, "create");
    EXPECT_EQ(verdict.event.object.type, schema::ObjectType::kProcess);
    EXPECT_EQ(verdict.event.object.name, "vfork");
    EXPECT_FALSE(verdict.event.object.number);
    EXPECT_EQ(verdict.event.rule, "processes.max");
    EXPECT_EQ(verdict.event.cause, schema::DecisionCause::kPolicy);
    EXPECT_EQ(verdict.event.os_errno, max == 0 ? EPERM : EAGAIN);
    EXPECT_TRUE(verdict.event.object.check());
  }
}

TEST(CreationTest, ACallThatPolicyDeniesIsNoCreation) {
  FilterSpec spec = spec_of(syscall_policy({"@default"}, {"fork"}));
  spec.ceiling = ProcessCeiling{4, "processes.max"};
  EXPECT_FALSE(creates_process(native_call(SYS_fork), spec));
  EXPECT_EQ(classify(call(SYS_fork), spec).event.rule, "syscalls.deny[0]");
  EXPECT_TRUE(creates_process(native_call(SYS_vfork), spec));
}

TEST(CreationTest, OtherArchitecturesAreRefusedAsSuch) {
  NotifiedCall foreign = call(SYS_fork);
  foreign.data.arch = AUDIT_ARCH_I386;
  EXPECT_FALSE(creates_process(foreign.data, ceiling_spec(4)));
  EXPECT_FALSE(creates_process(call(SYS_fork | 0x40000000).data, ceiling_spec(4)));
}

TEST(CreationTest, TheCeilingIsThatOfTheRequirement) {
  EXPECT_FALSE(process_ceiling({syscall_policy({"@default"})}));
  schema::Requirement requirement;
  requirement.domain = schema::Domain::kProcessCreation;
  requirement.default_rule = "capabilities.deny[0]";
  ASSERT_TRUE(process_ceiling({requirement}));
  EXPECT_EQ(process_ceiling({requirement})->max, 0);
  EXPECT_EQ(process_ceiling({requirement})->rule, "capabilities.deny[0]");
  schema::PolicyRule rule;
  rule.selector = {schema::SelectorType::kLimit, schema::PathBytes(std::string("64"))};
  requirement.rules = {rule};
  EXPECT_EQ(process_ceiling({requirement})->max, 64);
}

}  // namespace
}  // namespace aasm::backend_native
