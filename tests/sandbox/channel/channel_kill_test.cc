#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include <gtest/gtest.h>

#include "filtered_process.h"

namespace aasm::backend_native {
namespace {

FilterSpec killing() {
  return spec_of(syscall_policy({"@default", "mount"}), "kill");
}

TEST(ChannelKillTest, DeniedCallKillsItsProcessBeforeTheCallReturns) {
  const SharedWords seen(2);
  FilteredProcess process(killing(), [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      seen[0] = 1;
      raw_syscall(SYS_shmget, 1, 2, 3);
      seen[1] = 1;
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 0 : 1;
  });
  ASSERT_EQ(process.run(), 0);
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(seen[1], 0);
  ASSERT_EQ(process.events_on("shmget").size(), 1U);
  const schema::Event event = process.events_on("shmget")[0];
  EXPECT_EQ(event.reply, schema::ReplyState::kKilledWhileBlocked);
  EXPECT_EQ(event.os_errno, 0);
  EXPECT_EQ(event.cause, schema::DecisionCause::kPolicy);
  EXPECT_EQ(event.rule, "syscalls.allow");
  EXPECT_FALSE(process.channel().killed_program());
}

TEST(ChannelKillTest, DenialInAThreadKillsTheWholeProgram) {
  FilteredProcess process(killing(), [] {
    std::thread thread([] { raw_syscall(SYS_shmget, 1, 2, 3); });
    thread.join();
    return 0;
  });
  const int status = process.run();
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_TRUE(process.channel().killed_program());
  // The thread is made by clone, after clone3 was answered for fallback.
  EXPECT_EQ(process.actions_on("shmget"), 1);
}

TEST(ChannelKillTest, SelfProtectionAndFallbackAnswersDoNotKill) {
  FilteredProcess process(killing(), [] {
    return raw_syscall(SYS_mount) == -EPERM && raw_syscall(SYS_clone3) == -ENOSYS &&
                   raw_syscall(SYS_ioctl, 0, 0x5412) == -EPERM
               ? 0
               : 1;
  });
  EXPECT_EQ(process.run(), 0);
  EXPECT_EQ(process.events().size(), 3U);
}

TEST(ChannelKillTest, ForbiddenCanaryIsRefusedRatherThanKilled) {
  FilteredOptions options;
  options.script.forbidden = {SYS_unshare};
  const SharedWords result(1);
  options.canaries = [&] { result[0] = raw_syscall(SYS_unshare, 0); };
  FilteredProcess process(
      killing(), [] { return 0; }, options);
  const auto reports = process.channel().await_canaries(std::chrono::seconds(20));
  ASSERT_TRUE(reports);
  EXPECT_EQ(result[0], -EPERM);
  ASSERT_EQ(reports->size(), 1U);
  EXPECT_EQ(reports->front().os_errno, EPERM);
  EXPECT_EQ(process.run(), 0);
}

}  // namespace
}  // namespace aasm::backend_native
