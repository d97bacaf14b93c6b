#include "phase.h"

#include <sys/syscall.h>

#include <gtest/gtest.h>

#include "filter_policy.h"

namespace aasm::backend_native {
namespace {

constexpr pid_t kChild = 100;
constexpr std::int32_t kRendezvous = 0xAA51;

seccomp_notif from(pid_t tid, std::int32_t number, std::uint64_t argument = 0) {
  seccomp_notif call{};
  call.pid = static_cast<std::uint32_t>(tid);
  call.data = native_call(number, {argument});
  return call;
}

GateAnswer canary(std::int32_t number, const CanaryScript& script, pid_t tid = kChild) {
  return gate(Phase::kCanary, script, kChild, from(tid, number));
}
GateAnswer handover(std::int32_t number, const CanaryScript& script = {}, pid_t tid = kChild) {
  return gate(Phase::kHandover, script, kChild, from(tid, number));
}

const CanaryScript kScript = {{SYS_openat, SYS_fcntl}, {SYS_unshare}, false};

TEST(PhaseTest, ScriptRunsAndItsForbiddenCallIsReported) {
  EXPECT_EQ(canary(SYS_openat, kScript), GateAnswer::kLetRun);
  EXPECT_EQ(canary(SYS_fcntl, kScript), GateAnswer::kLetRun);
  EXPECT_EQ(canary(SYS_close, kScript), GateAnswer::kLetRun);
  EXPECT_EQ(canary(SYS_exit_group, kScript), GateAnswer::kLetRun);
  EXPECT_EQ(canary(SYS_unshare, kScript), GateAnswer::kCanary);
}

TEST(PhaseTest, ForbiddenCallIsReportedThoughTheScriptListsIt) {
  EXPECT_EQ(canary(SYS_kcmp, {{SYS_kcmp}, {SYS_kcmp}, false}), GateAnswer::kCanary);
}

TEST(PhaseTest, CallOutsideScriptAndHelperEndsTheLaunch) {
  EXPECT_EQ(canary(SYS_write, kScript), GateAnswer::kViolation);
  EXPECT_EQ(canary(SYS_execveat, kScript), GateAnswer::kViolation);
  EXPECT_EQ(canary(SYS_clone, kScript), GateAnswer::kViolation);
  EXPECT_EQ(canary(-1, kScript), GateAnswer::kViolation);
  seccomp_notif call = from(kChild, SYS_openat);
  call.data.arch = AUDIT_ARCH_I386;
  EXPECT_EQ(gate(Phase::kCanary, kScript, kChild, call), GateAnswer::kViolation);
}

TEST(PhaseTest, OnlyTheChildCallsUnlessTheScriptRunsInADescendant) {
  EXPECT_EQ(canary(SYS_openat, kScript, kChild + 1), GateAnswer::kViolation);
  CanaryScript probe = kScript;
  probe.descendants = true;
  EXPECT_EQ(canary(SYS_openat, probe, kChild + 1), GateAnswer::kLetRun);
  EXPECT_EQ(canary(SYS_clone, probe), GateAnswer::kLetRun);
  EXPECT_EQ(canary(SYS_wait4, probe), GateAnswer::kLetRun);
  EXPECT_EQ(canary(kRendezvous, probe, kChild + 1), GateAnswer::kViolation);
}

TEST(PhaseTest, RendezvousIsKnownByItsPhase) {
  const auto ask = [](Phase phase, std::uint64_t argument) {
    return gate(phase, kScript, kChild, from(kChild, kRendezvous, argument));
  };
  EXPECT_EQ(ask(Phase::kCanary, 1), GateAnswer::kCanariesBegin);
  EXPECT_EQ(ask(Phase::kCanary, 2), GateAnswer::kReadyForProgram);
  EXPECT_EQ(ask(Phase::kCanary, 0), GateAnswer::kViolation);
  EXPECT_EQ(ask(Phase::kCanary, 3), GateAnswer::kViolation);
  EXPECT_EQ(ask(Phase::kHandover, 2), GateAnswer::kViolation);
}

TEST(PhaseTest, HandoverLetsTheHelperExecuteAndNothingElse) {
  for (const std::int32_t number :
       {SYS_execve, SYS_execveat, SYS_close, SYS_exit, SYS_exit_group}) {
    EXPECT_EQ(handover(number), GateAnswer::kLetRun) << number;
  }
  for (const std::int32_t number :
       {SYS_openat, SYS_write, SYS_unshare, SYS_fork, SYS_clone, SYS_seccomp, SYS_prctl}) {
    EXPECT_EQ(handover(number, kScript), GateAnswer::kViolation) << number;
  }
  EXPECT_EQ(handover(SYS_execveat, {}, kChild + 1), GateAnswer::kViolation);
}

}  // namespace
}  // namespace aasm::backend_native
