#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "confined_run.h"

namespace aasm::backend_native::testing {
namespace {

using schema::DecisionCause;
using schema::DecisionOutcome;
using schema::Event;
using schema::ExitCause;

class DecisionTest : public ConfinedTest {
 protected:
  Launch stated(std::vector<std::string> denied, std::string on_denial = "errno") {
    Launch launch;
    launch.requirements = usual(layout_);
    launch.requirements.push_back(syscalls_default_without(std::move(denied)));
    launch.on_denial = std::move(on_denial);
    return launch;
  }
};

TEST_P(DecisionTest, ADeniedCallOfAnOrphanIsExactlyOneEventThatNamesIt) {
  const RunResult result = run_actions({"orphan_call", std::to_string(SYS_unshare)}, stated({}));
  ASSERT_EQ(result.closed.ending, schema::RunEnding::kFinished) << result.closed.detail;
  EXPECT_TRUE(result.says("orphan_call " + std::to_string(SYS_unshare) + " = 1")) << result.output;
  const std::vector<Event> events = result.events();
  ASSERT_EQ(events.size(), 1U);
  const Event& event = events[0];
  EXPECT_EQ(event.object.name, "unshare");
  EXPECT_EQ(event.outcome, DecisionOutcome::kDenied);
  EXPECT_EQ(event.os_errno, EPERM);
  EXPECT_EQ(event.cause, DecisionCause::kPolicy);
  EXPECT_EQ(event.rule, "syscalls.allow");
  EXPECT_EQ(event.count, 1);
  EXPECT_EQ(event.pid, result.number_after("orphan"));
  EXPECT_EQ(event.executable.bytes(), layout_.actions());
  ASSERT_FALSE(event.parents.empty()) << "the warden has taken the orphan in";
  EXPECT_EQ(result.closed.channel.events, 1);
  EXPECT_EQ(result.closed.channel.dropped, 0);
  EXPECT_TRUE(result.closed.channel.closed);
}

TEST_P(DecisionTest, ADenyRuleIsCitedByItsId) {
  const RunResult result = run_actions({"call", std::to_string(SYS_getppid)}, stated({"getppid"}));
  const std::vector<Event> events = result.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].rule, "syscalls.deny[0]");
  EXPECT_EQ(events[0].cause, DecisionCause::kPolicy);
  EXPECT_TRUE(result.says("call " + std::to_string(SYS_getppid) + " = 1")) << result.output;
}

TEST_P(DecisionTest, TheRuleOfADenialStandsInAControlThatWasPreparedForPolicy) {
  const RunResult result = run_actions({"call", std::to_string(SYS_unshare)}, stated({"getppid"}));
  ASSERT_EQ(result.events().size(), 1U);
  const std::string rule = result.events()[0].rule;
  bool listed = false;
  for (const auto& prepared : result.all<schema::ControlPrepared>()) {
    for (const schema::Control& control : prepared.controls) {
      listed = listed || (control.purpose == schema::Purpose::kPolicy && control.installed &&
                          control.domain == schema::Domain::kSyscall &&
                          std::count(control.rules.begin(), control.rules.end(), rule) != 0);
    }
  }
  EXPECT_TRUE(listed) << rule;
}

TEST_P(DecisionTest, AnAllowedCallIsNoEvent) {
  const RunResult result = run_actions({"call", std::to_string(SYS_getppid)}, stated({}));
  EXPECT_TRUE(result.events().empty());
  EXPECT_TRUE(result.closed.channel.closed);
}

TEST_P(DecisionTest, CanaryCallsAreNoEventsOfTheWorkload) {
  const RunResult result = run_actions({"cwd"}, stated({}));
  ASSERT_TRUE(result.canary("syscall.unshare"));
  EXPECT_TRUE(result.canary("syscall.unshare")->proves());
  EXPECT_EQ(result.canary("syscall.unshare")->channel, schema::ChannelReport::kReported);
  EXPECT_EQ(result.canary("syscall.unshare")->purpose, schema::Purpose::kPolicy);
  EXPECT_TRUE(result.events().empty());
  EXPECT_EQ(result.closed.channel.events, 0);
}

TEST_P(DecisionTest, EventsComeOnlyAfterTheRecordOfTheStart) {
  Launch launch = stated({});
  // Long enough for the program to end and for the channel to cut its last batch.
  launch.before_recording = [] { ::usleep(300000); };
  const RunResult result = run_actions({"call", std::to_string(SYS_unshare)}, launch);
  EXPECT_EQ(result.events().size(), 1U);
  std::size_t started = result.records.size();
  for (std::size_t i = 0; i < result.records.size(); ++i) {
    if (std::holds_alternative<schema::ProcessStarted>(result.records[i])) {
      started = i;
    }
    if (std::holds_alternative<schema::DecisionBatch>(result.records[i])) {
      EXPECT_LT(started, i);
    }
  }
  EXPECT_LT(started, result.records.size());
}

TEST_P(DecisionTest, ADenialThatKillsEndsTheProgramAndIsRecorded) {
  const RunResult result =
      run_actions({"call", std::to_string(SYS_unshare), "cwd"}, stated({}, "kill"));
  ASSERT_EQ(result.closed.ending, schema::RunEnding::kFinished) << result.closed.detail;
  EXPECT_THAT(result.output, ::testing::Not(::testing::HasSubstr("cwd")));
  const auto exited = result.first<schema::ProcessExited>();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->signal, SIGKILL);
  EXPECT_EQ(exited->cause, ExitCause::kKilledByDenial);
  ASSERT_EQ(result.events().size(), 1U);
  EXPECT_EQ(result.events()[0].reply, schema::ReplyState::kKilledWhileBlocked);
}

TEST_P(DecisionTest, AFloodOfDenialsIsCountedToTheLast) {
  std::vector<std::string> actions;
  for (int i = 0; i < 300; ++i) {
    actions.push_back("call");
    actions.push_back(std::to_string(SYS_unshare));
  }
  const RunResult result = run_actions(actions, stated({}));
  EXPECT_EQ(result.closed.channel.actions, 300);
  EXPECT_EQ(result.closed.channel.dropped, 0);
}

INSTANTIATE_TEST_SUITE_P(Users, DecisionTest, ::testing::Values(As::kSelf, As::kNobody),
                         name_of_user);

}  // namespace
}  // namespace aasm::backend_native::testing
