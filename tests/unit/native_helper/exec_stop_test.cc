#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "aasm/process/exec_target.h"
#include "aasm/process/pidfd.h"
#include "aasm/process/proc_status.h"

#include "as_user.h"
#include "launch_harness.h"

namespace aasm::test {
namespace {

class ExecStopTest : public testing::TestWithParam<bool> {
 protected:
  static void expect_passes(const std::function<std::string()>& body) {
    EXPECT_EQ(run_in_child(GetParam(), body), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Users, ExecStopTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

TEST_P(ExecStopTest, ExecutedFileIsReadAtTheStopAndTheProgramGoesOn) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"exit", "5"}));
    AASM_CHILD_CHECK(launch.has_value(), launch.error().message());
    auto& client = *launch->client;
    AASM_CHILD_CHECK(launch->answerer->wait_ready(), "");
    const auto seized = client.seize();
    AASM_CHILD_CHECK(seized.has_value(), seized.error().message());
    launch->answerer->release();
    const auto stop = client.wait_exec_stop(kPatience);
    AASM_CHILD_CHECK(stop.has_value(), stop.error().message());
    const auto expected = process::identity_of(std::string(AASM_LAUNCH_PROBE));
    AASM_CHILD_CHECK(process::identity_of(stop->exe.borrow()).value() == *expected, "");
    AASM_CHILD_CHECK(stop->path == std::filesystem::canonical(AASM_LAUNCH_PROBE).string(), "");
    AASM_CHILD_CHECK(stop->start_time_ticks > 0, "");
    // The program has not run its first instruction: it stands still until it is let go.
    const auto early = client.wait_exit(std::chrono::milliseconds(50));
    AASM_CHILD_CHECK(early && !*early, "");
    AASM_CHILD_CHECK(client.detach().has_value(), "");
    const auto exit = client.wait_exit(kPatience);
    AASM_CHILD_CHECK(exit && *exit && WEXITSTATUS((*exit)->wait_status) == 5, "");
    return {};
  });
}

TEST_P(ExecStopTest, FailedExecGivesItsErrnoInsteadOfAStop) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.exec_fd = -1;
    spec.exec_path = "/nonexistent/program";
    auto launch = start_launch(spec);
    AASM_CHILD_CHECK(launch.has_value(), launch.error().message());
    AASM_CHILD_CHECK(launch->answerer->wait_ready(), "");
    AASM_CHILD_CHECK(launch->client->seize().has_value(), "");
    launch->answerer->release();
    const auto stop = launch->client->wait_exec_stop(kPatience);
    AASM_CHILD_CHECK(!stop.has_value(), "");
    AASM_CHILD_CHECK(stop.error().os_errno() == ENOENT, stop.error().message());
    const auto exit = launch->client->wait_exit(kPatience);
    AASM_CHILD_CHECK(exit && *exit, "the warden did not see the end");
    return {};
  });
}

TEST_P(ExecStopTest, SignalBeforeTheExecReachesTheTracedChild) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"exit", "0"}));
    AASM_CHILD_CHECK(launch.has_value(), launch.error().message());
    AASM_CHILD_CHECK(launch->answerer->wait_ready(), "");
    AASM_CHILD_CHECK(launch->client->seize().has_value(), "");
    AASM_CHILD_CHECK(process::send_signal(launch->client->child_pidfd(), SIGTERM).has_value(), "");
    AASM_CHILD_CHECK(!launch->client->wait_exec_stop(kPatience).has_value(), "");
    const auto exit = launch->client->wait_exit(kPatience);
    AASM_CHILD_CHECK(exit && *exit && WIFSIGNALED((*exit)->wait_status), "");
    AASM_CHILD_CHECK(WTERMSIG((*exit)->wait_status) == SIGTERM, "");
    return {};
  });
}

TEST_P(ExecStopTest, TreeOfATracedChildCanBeKilled) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"exit", "0"}));
    AASM_CHILD_CHECK(launch.has_value(), launch.error().message());
    AASM_CHILD_CHECK(launch->answerer->wait_ready(), "");
    AASM_CHILD_CHECK(launch->client->seize().has_value(), "");
    launch->answerer->release();
    AASM_CHILD_CHECK(launch->client->wait_exec_stop(kPatience).has_value(), "");
    const auto killed = launch->client->kill_tree(std::chrono::milliseconds(1000));
    AASM_CHILD_CHECK(killed.has_value(), killed.error().message());
    const auto exit = launch->client->wait_exit(std::chrono::milliseconds(0));
    AASM_CHILD_CHECK(exit && *exit && WTERMSIG((*exit)->wait_status) == SIGKILL, "");
    return {};
  });
}

}  // namespace
}  // namespace aasm::test
