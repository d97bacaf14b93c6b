#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "confined_run.h"

namespace aasm::backend_native::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Programs of the host under the policy a person would write: system directories to read, the
// workspace to write, the default system calls.
class HostProgramTest : public ConfinedTest {
 protected:
  RunResult run_shell(const std::string& script) {
    Launch launch;
    launch.command = {"/bin/sh", "-c", script};
    launch.environment = {"PATH=/usr/bin:/bin"};
    launch.requirements = {reads(layout_, system_paths()), writes(layout_),
                           syscalls_default_without({}), credentials()};
    return run(launch);
  }
};

TEST_P(HostProgramTest, ListAndCatWorkInsideAndAreRefusedOutside) {
  const RunResult result =
      run_shell("ls " + layout_.path("ro") + " && cat " + layout_.path("ro/file") + "; cat " +
                layout_.path("secret/file") + "; echo status $?; ls " + layout_.path("secret") +
                "; echo status $?");
  ASSERT_EQ(result.closed.ending, schema::RunEnding::kFinished) << result.closed.detail;
  EXPECT_TRUE(result.says("tool")) << result.output;
  EXPECT_TRUE(result.says("ro")) << result.output;
  EXPECT_THAT(result.output, HasSubstr("secret/file: Permission denied"));
  EXPECT_THAT(result.output, Not(HasSubstr("\nsecret\n")));
  EXPECT_TRUE(result.says("status 1")) << result.output;
  EXPECT_TRUE(result.says("status 2")) << result.output;
}

TEST_P(HostProgramTest, RedirectionsPipesAndFileToolsWorkInTheWorkspace) {
  const RunResult result = run_shell(
      "set -e; echo one > a; cat a | tr o 0 > b; mkdir d; mv b d/b; ln d/b d/c; "
      "cp d/c e; touch -d 2001-01-01 e; rm a; cat d/c e 2>/dev/null; echo done");
  EXPECT_TRUE(result.says("0ne")) << result.output;
  EXPECT_TRUE(result.says("done")) << result.output;
  EXPECT_EQ(result.first<schema::ProcessExited>()->status, 0);
}

TEST_P(HostProgramTest, AToolThatTriesToLeaveIsRefusedAndRecordedOnce) {
  if (::access("/usr/bin/unshare", X_OK) != 0) {
    GTEST_SKIP() << "no unshare(1) on this host";
  }
  const RunResult result = run_shell("unshare -U true; echo status $?");
  EXPECT_THAT(result.output, HasSubstr("Operation not permitted"));
  const auto events = result.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].object.name, "unshare");
  EXPECT_THAT(events[0].executable.bytes(), HasSubstr("unshare"));
}

TEST_P(HostProgramTest, ThreadsStartAlthoughClone3IsAnsweredAsMissing) {
  if (::access("/usr/bin/python3", X_OK) != 0) {
    GTEST_SKIP() << "no python3 on this host";
  }
  const RunResult result = run_shell(
      "python3 -c 'import os, threading; "
      "t=[threading.Thread(target=os.write,args=(1,b\"thread\\n\")) for _ in range(4)]; "
      "[x.start() for x in t]; [x.join() for x in t]'");
  EXPECT_EQ(result.first<schema::ProcessExited>()->status, 0) << result.output;
  EXPECT_TRUE(result.says("thread")) << result.output;
  for (const schema::Event& event : result.events()) {
    EXPECT_EQ(event.cause, schema::DecisionCause::kCompat) << event.object.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Users, HostProgramTest, ::testing::Values(As::kSelf, As::kNobody),
                         name_of_user);

}  // namespace
}  // namespace aasm::backend_native::testing
