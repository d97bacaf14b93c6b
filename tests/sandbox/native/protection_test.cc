#include <cerrno>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "confined_run.h"

namespace aasm::backend_native::testing {
namespace {

using schema::RunEnding;

using ProtectionTest = ConfinedTest;

int result_of(const RunResult& result, const std::string& action) {
  const std::string mark = "\n" + action + " = ";
  const std::string output = "\n" + result.output;
  const std::size_t at = output.find(mark);
  return at == std::string::npos ? -1 : std::atoi(output.c_str() + at + mark.size());
}

TEST_P(ProtectionTest, SupervisorAndWardenCannotBeSignalled) {
  const RunResult result =
      run_actions({"kill", "{supervisor}", "9", "kill_parent", "9", "kill_parent", "0"});
  EXPECT_EQ(result_of(result, "kill_parent 9"), EPERM) << result.output;
  EXPECT_EQ(result_of(result, "kill_parent 0"), EPERM) << result.output;
  EXPECT_TRUE(result.supervisor_lived);
  EXPECT_EQ(result.closed.ending, RunEnding::kFinished);
  EXPECT_EQ(result.first<schema::ProcessExited>()->cause, schema::ExitCause::kExited);
}

TEST_P(ProtectionTest, SignalsInsideTheTreeWork) {
  const RunResult result = run_actions({"kill_self", "0"});
  EXPECT_EQ(result_of(result, "kill_self 0"), 0) << result.output;
}

TEST_P(ProtectionTest, SupervisorAndWardenCannotBeTracedEvenWhenPolicyOpensPtrace) {
  Launch launch;
  launch.requirements = usual(layout_);
  launch.requirements.push_back(syscalls_default_without({}));
  schema::PolicyRule debug = launch.requirements.back().rules[0];
  debug.id = "syscalls.allow[1]";
  debug.selector.value = schema::PathBytes("@debug");
  launch.requirements.back().rules.push_back(debug);
  const RunResult result = run_actions({"ptrace_parent"}, launch);
  ASSERT_EQ(result.closed.ending, RunEnding::kFinished) << result.closed.detail;
  EXPECT_EQ(result_of(result, "ptrace_parent"), EPERM) << result.output;
  EXPECT_TRUE(result.events().empty()) << "the filter let it through to Landlock";
}

TEST_P(ProtectionTest, TracingIsRefusedAndRecordedWhenPolicyIsSilent) {
  const RunResult result = run_actions({"ptrace_parent"});
  EXPECT_EQ(result_of(result, "ptrace_parent"), EPERM) << result.output;
  const auto events = result.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].object.name, "ptrace");
  EXPECT_EQ(events[0].rule, "self_protection.ptrace");
}

TEST_P(ProtectionTest, EnvironmentAndMemoryOfTheSupervisorAreOutOfReachThoughProcIsGranted) {
  Launch launch;
  launch.requirements = {reads(layout_, {"/proc"}), writes(layout_)};
  launch.before = [] { ::setenv("SECRET_TOKEN", "t0p", 1); };
  const RunResult result =
      run_actions({"read", "/proc/{supervisor}/environ", "read", "/proc/{supervisor}/mem", "read",
                   "/proc/{supervisor}/maps", "read", "/proc/self/status"},
                  launch);
  ASSERT_EQ(result.closed.ending, RunEnding::kFinished) << result.closed.detail;
  EXPECT_THAT(result.output, ::testing::Not(::testing::HasSubstr("environ = 0")));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("environ = 1[3]?\n"));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("mem = 1[3]?\n"));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("maps = 1[3]?\n"));
  EXPECT_TRUE(result.says("read /proc/self/status = 0")) << result.output;
}

TEST_P(ProtectionTest, AGrantThatReachesAKeyRefusesTheRun) {
  Launch launch;
  launch.requirements = {reads(layout_, {layout_.path("home/keys/log.key")}), writes(layout_)};
  const RunResult result = run_actions({"cwd"}, launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kSelfProtectionFailed) << result.closed.detail;
  EXPECT_THAT(result.closed.detail, ::testing::HasSubstr("home/keys/log.key"));
  EXPECT_TRUE(result.output.empty()) << result.output;
}

TEST_P(ProtectionTest, AWritableLedgerRefusesTheRun) {
  Launch launch;
  launch.requirements = {reads(layout_), writes(layout_, {layout_.path("home/ledger.db")})};
  const RunResult result = run_actions({"cwd"}, launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kSelfProtectionFailed) << result.closed.detail;
  EXPECT_TRUE(result.output.empty()) << result.output;
}

struct OmittingHelper {
  const char* helper;
  const char* step;
  bool needs_root;
};

class OmittedStepTest : public ::testing::TestWithParam<std::tuple<OmittingHelper, As>> {};

TEST_P(OmittedStepTest, IsRefusedByTheCanaryThatWatchesIt) {
  const auto& [omitting, as] = GetParam();
  if (omitting.needs_root && (as == As::kNobody || ::geteuid() != 0)) {
    GTEST_SKIP() << "there is nothing to omit: this user has no capability to cut";
  }
  const Layout layout(as);
  Launch launch;
  launch.as = as;
  launch.command = {layout.actions(), "cwd"};
  launch.requirements = usual(layout);
  launch.helper = omitting.helper;
  const RunResult result = run_confined(layout, launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kCanaryFailed) << result.closed.detail;
  EXPECT_EQ(result.closed.detail.substr(0, result.closed.detail.find(':')), omitting.step)
      << result.closed.detail;
  EXPECT_FALSE(result.closed.program_started);
  EXPECT_TRUE(result.output.empty()) << result.output;
  EXPECT_FALSE(result.all<schema::BoundaryProved>().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Helpers, OmittedStepTest,
    ::testing::Combine(
        ::testing::Values(OmittingHelper{"aasm-launch-helper-no-landlock", "landlock", false},
                          OmittingHelper{"aasm-launch-helper-no-seccomp", "seccomp", false},
                          OmittingHelper{"aasm-launch-helper-no-descriptors", "descriptors", false},
                          OmittingHelper{"aasm-launch-helper-no-capabilities", "capabilities",
                                         true}),
        ::testing::Values(As::kSelf, As::kNobody)),
    [](const auto& parameter) {
      return std::string(std::get<0>(parameter.param).step) +
             (std::get<1>(parameter.param) == As::kSelf ? "Self" : "Nobody");
    });

INSTANTIATE_TEST_SUITE_P(Users, ProtectionTest, ::testing::Values(As::kSelf, As::kNobody),
                         name_of_user);

}  // namespace
}  // namespace aasm::backend_native::testing
