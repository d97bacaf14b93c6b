#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "filtered_process.h"

namespace aasm::backend_native {
namespace {

constexpr std::chrono::seconds kPatience{20};

// Not even openat is listed, so each call of the script is notified.
FilterSpec narrow() {
  return spec_of(syscall_policy({"exit_group", "getpid"}));
}

FilteredOptions script(std::function<void()> canaries) {
  FilteredOptions options;
  options.script.calls = {SYS_openat};
  options.script.forbidden = {SYS_unshare};
  options.canaries = std::move(canaries);
  return options;
}

TEST(ChannelCanaryTest, ScriptRunsTheForbiddenCallIsReportedAndNothingIsAnEvent) {
  const SharedWords result(3);
  FilteredProcess process(
      narrow(), [] { return 0; }, script([&] {
        result[0] = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_RDONLY);
        result[1] = raw_syscall(SYS_close, result[0]);
        result[2] = raw_syscall(SYS_unshare, 0);
      }));
  const auto reports = process.channel().await_canaries(kPatience);
  ASSERT_TRUE(reports) << reports.error().message();
  EXPECT_GE(result[0], 0);
  EXPECT_EQ(result[1], 0);
  EXPECT_EQ(result[2], -EPERM);
  ASSERT_EQ(reports->size(), 1U);
  EXPECT_EQ(reports->front().number, SYS_unshare);
  EXPECT_EQ(reports->front().os_errno, EPERM);
  EXPECT_EQ(reports->front().reply, schema::ReplyState::kAccepted);
  EXPECT_EQ(process.run(), 0);
  EXPECT_EQ(process.totals().events, 0);
}

TEST(ChannelCanaryTest, ForbiddenCallThatWasNotMadeIsNotReported) {
  FilteredProcess process(
      narrow(), [] { return 0; }, script([] {}));
  const auto reports = process.channel().await_canaries(kPatience);
  ASSERT_TRUE(reports);
  EXPECT_TRUE(reports->empty());
  EXPECT_EQ(process.run(), 0);
}

TEST(ChannelCanaryTest, CallOutsideTheScriptEndsTheLaunch) {
  const SharedWords result(1);
  FilteredProcess process(
      narrow(), [] { return 0; }, script([&] {
        raw_syscall(SYS_socket, 1, 1, 0);
        result[0] = 1;
      }));
  const auto reports = process.channel().await_canaries(kPatience);
  ASSERT_FALSE(reports);
  EXPECT_EQ(reports.error().code(), schema::ErrorCode::kIntegrity);
  const int status = process.wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(result[0], 0);
  ASSERT_TRUE(process.channel().failure().has_value());
  EXPECT_EQ(process.channel().failure()->step, "canaries");
  EXPECT_NE(process.channel().failure()->detail.find("socket"), std::string::npos);
  EXPECT_FALSE(process.channel().release_go({}));
  EXPECT_FALSE(process.finish().closed);
}

TEST(ChannelCanaryTest, CallOfTheHandoverOtherThanExecEndsTheLaunch) {
  FilteredOptions options;
  options.before_exec = [] { raw_syscall(SYS_socket, 1, 1, 0); };
  FilteredProcess process(
      narrow(), [] { return 0; }, options);
  process.go();
  const int status = process.wait();
  ASSERT_TRUE(WIFSIGNALED(status));
  process.finish();
  ASSERT_TRUE(process.channel().failure().has_value());
  EXPECT_EQ(process.channel().failure()->step, "handover");
  EXPECT_EQ(process.totals().events, 0);
  EXPECT_FALSE(process.totals().closed);
}

// The exec that fails is answered by the kernel, not by the policy, and is no event.
TEST(ChannelCanaryTest, ExecOfTheHandoverRunsThoughThePolicyDoesNotListIt) {
  const SharedWords result(1);
  FilteredOptions options;
  options.before_exec = [&] {
    result[0] = raw_syscall(SYS_execve, reinterpret_cast<long>("/nowhere/at/all"), 0, 0);
  };
  FilteredProcess process(
      narrow(), [] { return 0; }, options);
  EXPECT_EQ(process.run(), 0);
  EXPECT_EQ(result[0], -ENOENT);
  EXPECT_EQ(process.totals().events, 0);
}

TEST(ChannelCanaryTest, WorkloadBeginsAtTheEndOfTheReportPipe) {
  const SharedWords result(2);
  FilteredProcess process(
      narrow(),
      [&] {
        result[0] = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_RDONLY);
        result[1] = raw_syscall(SYS_execve, reinterpret_cast<long>("/nowhere/at/all"), 0, 0);
        return 0;
      },
      script([&] { raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/"), O_RDONLY); }));
  EXPECT_EQ(process.run(), 0);
  EXPECT_EQ(result[0], -EPERM);
  EXPECT_EQ(result[1], -EPERM);
  EXPECT_EQ(process.actions_on("openat"), 1);
  EXPECT_EQ(process.actions_on("execve"), 1);
}

TEST(ChannelCanaryTest, ChildThatEndsBeforeItIsReadyIsUnavailable) {
  FilteredProcess process(
      narrow(), [] { return 0; }, script([] { raw_syscall(SYS_exit_group, 9); }));
  EXPECT_EQ(WEXITSTATUS(process.wait()), 9);
  const auto reports = process.channel().await_canaries(kPatience);
  ASSERT_FALSE(reports);
  EXPECT_EQ(reports.error().code(), schema::ErrorCode::kUnavailable);
  pollfd ended = {process.channel().ended_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&ended, 1, 5000), 1);
}

TEST(ChannelCanaryTest, ChildThatDiesWhileItWaitsNeverGoes) {
  FilteredProcess process(narrow(), [] { return 0; });
  ASSERT_TRUE(process.channel().await_canaries(kPatience));
  ::kill(process.pid(), SIGKILL);
  process.wait();
  const auto released = process.channel().release_go({});
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code(), schema::ErrorCode::kUnavailable);
}

TEST(ChannelCanaryTest, WaitForCanariesEndsAtItsTimeout) {
  FilteredProcess process(
      narrow(), [] { return 0; }, script([] {
        for (;;) {
          raw_syscall(SYS_getpid);
        }
      }));
  const auto reports = process.channel().await_canaries(std::chrono::milliseconds(50));
  ASSERT_FALSE(reports);
  EXPECT_EQ(reports.error().code(), schema::ErrorCode::kUnavailable);
}

TEST(ChannelCanaryTest, StoppedChannelAnswersEnosysAndIsNotClosed) {
  const SharedWords result(1);
  FilteredProcess process(spec_of(syscall_policy({"@default"})), [&] {
    long answer = -EPERM;
    while (answer == -EPERM) {
      answer = raw_syscall(SYS_shmget, 1, 2, 3);
    }
    result[0] = answer;
    return 0;
  });
  process.go();
  ::usleep(20000);
  const schema::ChannelTotals totals = process.channel().finish(std::chrono::milliseconds(0));
  EXPECT_FALSE(totals.closed);
  EXPECT_TRUE(totals.opened);
  EXPECT_EQ(process.wait(), 0);
  EXPECT_EQ(result[0], -ENOSYS);
}

}  // namespace
}  // namespace aasm::backend_native
