#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "confined_run.h"

namespace aasm::backend_native::testing {
namespace {

using schema::ExitCause;
using schema::ImageRole;
using schema::RunEnding;

// A filter on the supervisor itself, as an outer sandbox would have it. `flags` as of seccomp(2).
void filter_supervisor(std::vector<sock_filter> program, unsigned flags) {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter) < 0) {
    std::abort();
  }
}

void forbid_ptrace() {
  filter_supervisor({BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                     BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                     BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
                    0);
}

class LifecycleTest : public ConfinedTest {
 protected:
  // An ELF file whose loader does not exist: only the kernel finds out.
  std::string program_without_loader() const {
    std::ostringstream bytes;
    bytes << std::ifstream("/bin/true").rdbuf();
    std::string text = bytes.str();
    const std::size_t loader = text.find("/ld-linux");
    EXPECT_NE(loader, std::string::npos);
    text[loader + 1] = 'X';
    const std::string path = layout_.path("ro/noloader");
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    return path;
  }

  // Blocks until the program has written `text`, at most five seconds.
  void await_output(const std::string& text) const {
    for (int i = 0; i < 1000; ++i) {
      std::ostringstream output;
      output << std::ifstream(layout_.path("output")).rdbuf();
      if (output.str().find(text) != std::string::npos) {
        return;
      }
      ::usleep(5000);
    }
  }
};

TEST_P(LifecycleTest, TheExitStatusIsTheProgramsOwn) {
  const RunResult result = run_actions({"exit", "7"});
  const auto exited = result.first<schema::ProcessExited>();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->status, 7);
  EXPECT_EQ(exited->cause, ExitCause::kExited);
  EXPECT_EQ(exited->descendants_killed, 0);
}

TEST_P(LifecycleTest, ASignalThatEndsTheProgramIsReported) {
  const RunResult result = run_actions({"kill_self", "11"});
  const auto exited = result.first<schema::ProcessExited>();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->signal, SIGSEGV);
  EXPECT_EQ(exited->cause, ExitCause::kSignalled);
}

TEST_P(LifecycleTest, TheImageReadAtTheExecStopIsTheOneThatWasPrepared) {
  const RunResult result = run_actions({"cwd"});
  const auto started = result.first<schema::ProcessStarted>();
  const auto prepared = result.first<schema::ControlPrepared>();
  ASSERT_TRUE(started && prepared);
  EXPECT_EQ(started->exe_read, schema::ExeRead::kAtExecStop) << started->exe_not_read_reason;
  EXPECT_EQ(started->bound, schema::BoundBy::kDescriptor);
  ASSERT_EQ(prepared->images.size(), 1U);
  EXPECT_EQ(started->exe_digest, prepared->images[0].digest);
  EXPECT_GT(started->start_time_ticks, 0U);
}

TEST_P(LifecycleTest, AScriptRunsByPathWithItsInterpreterHashed) {
  Launch launch;
  launch.command = {layout_.path("ro/script")};
  launch.requirements = usual(layout_);
  std::ofstream(layout_.path("ro/script")) << "#!" << layout_.actions() << " cwd\n";
  const RunResult result = run(launch);
  ASSERT_EQ(result.closed.ending, RunEnding::kFinished) << result.closed.detail;
  const auto prepared = result.first<schema::ControlPrepared>();
  const auto started = result.first<schema::ProcessStarted>();
  ASSERT_TRUE(prepared && started);
  EXPECT_EQ(prepared->bound, schema::BoundBy::kPath);
  ASSERT_EQ(prepared->images.size(), 2U);
  EXPECT_EQ(prepared->images[0].role, ImageRole::kScript);
  EXPECT_EQ(prepared->images[1].role, ImageRole::kInterpreter);
  EXPECT_EQ(started->exe_digest, prepared->images[1].digest) << "the kernel runs the interpreter";
  EXPECT_TRUE(result.says("cwd " + layout_.path("work"))) << result.output;
}

TEST_P(LifecycleTest, AMissingInterpreterIsReportedWithItsErrno) {
  Launch launch;
  launch.command = {layout_.path("ro/script")};
  std::ofstream(layout_.path("ro/script")) << "#!/nonexistent/interpreter\n";
  const RunResult result = run(launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kPrepareFailed);
  EXPECT_EQ(result.closed.os_errno, ENOENT);
  EXPECT_THAT(result.closed.detail, ::testing::HasSubstr("/nonexistent/interpreter"));
}

TEST_P(LifecycleTest, AMissingLoaderIsAFailedExecWithItsErrno) {
  Launch launch;
  launch.command = {program_without_loader()};
  const RunResult result = run(launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kExecFailed) << result.closed.detail;
  EXPECT_EQ(result.closed.os_errno, ENOENT) << result.closed.detail;
  EXPECT_FALSE(result.closed.program_started);
}

TEST_P(LifecycleTest, AStartThatCannotBeTracedRunsAndSaysThatNobodyReadIt) {
  Launch launch;
  launch.before = forbid_ptrace;
  const RunResult result = run_actions({"exit", "4"}, launch);
  const auto started = result.first<schema::ProcessStarted>();
  ASSERT_TRUE(started) << result.closed.detail;
  EXPECT_EQ(started->exe_read, schema::ExeRead::kNotRead);
  EXPECT_FALSE(started->exe_not_read_reason.empty());
  EXPECT_FALSE(started->exe_digest);
  EXPECT_EQ(result.first<schema::ProcessExited>()->status, 4);
}

TEST_P(LifecycleTest, AFailedExecIsNoticedWithoutATracerToo) {
  Launch launch;
  launch.before = forbid_ptrace;
  launch.command = {program_without_loader()};
  const RunResult result = run(launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kExecFailed) << result.closed.detail;
  EXPECT_EQ(result.closed.os_errno, ENOENT) << result.closed.detail;
  EXPECT_FALSE(result.first<schema::ProcessStarted>());
}

// One listener for a chain of filters: under an outer one there can be no decision channel.
TEST_P(LifecycleTest, AnOuterListenerRefusesTheRunNamingStepAndErrno) {
  Launch launch;
  launch.before = [] {
    filter_supervisor({BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)},
                      SECCOMP_FILTER_FLAG_NEW_LISTENER);
  };
  const RunResult result = run_actions({"cwd"}, launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kPrepareFailed) << result.closed.detail;
  EXPECT_THAT(result.closed.detail, ::testing::StartsWith("seccomp: "));
  EXPECT_EQ(result.closed.os_errno, EBUSY);
  const auto prepared = result.first<schema::ControlPrepared>();
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->failed_step, "seccomp");
  EXPECT_TRUE(result.output.empty()) << result.output;
}

TEST_P(LifecycleTest, WhatIsInstalledIsHandedOutOnceAndSaysWhatTheReportWouldSay) {
  Launch launch;
  const RunResult reported = run_actions({"cwd"}, launch);
  launch.hands_out_control = true;
  const RunResult handed_out = run_actions({"cwd"}, launch);
  EXPECT_EQ(handed_out.closed.ending, RunEnding::kFinished) << handed_out.closed.detail;
  const auto summary = [](const RunResult& result) {
    std::string text;
    for (const schema::RecordBody& body : result.records) {
      text += std::string(schema::kind_of(body)) + "\n";
    }
    for (const auto& record : result.all<schema::ControlPrepared>()) {
      for (const schema::Control& control : record.controls) {
        text += control.id + (control.installed ? " installed\n" : " not installed\n");
      }
    }
    return text;
  };
  EXPECT_EQ(summary(handed_out), summary(reported));
}

TEST_P(LifecycleTest, WhatIsInstalledIsHandedOutOfALaunchThatItsCanaryRefuses) {
  Launch launch;
  launch.hands_out_control = true;
  launch.helper = "aasm-launch-helper-no-landlock";
  const RunResult result = run_actions({"cwd"}, launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kCanaryFailed) << result.closed.detail;
  EXPECT_EQ(result.all<schema::ControlPrepared>().size(), 1U);
}

TEST_P(LifecycleTest, AProgramThatPolicyDoesNotLetExecuteIsAFailedExec) {
  Launch launch;
  launch.command = {layout_.path("secret/tool"), "cwd"};
  const RunResult result = run(launch);
  EXPECT_EQ(result.closed.ending, RunEnding::kExecFailed) << result.closed.detail;
  EXPECT_EQ(result.closed.os_errno, EACCES) << result.closed.detail;
  EXPECT_TRUE(result.output.empty()) << result.output;
}

TEST_P(LifecycleTest, NoSleeperOutlivesTheProgram) {
  const RunResult result = run_actions({"sleeper", "sleeper", "sleeper"});
  const int sleeper = result.number_after("sleeper");
  ASSERT_GT(sleeper, 0) << result.output;
  EXPECT_TRUE(gone(sleeper));
  EXPECT_EQ(result.first<schema::ProcessExited>()->descendants_killed, 3);
}

TEST_P(LifecycleTest, NoSleeperOutlivesASupervisorThatIsKilled) {
  Launch launch;
  launch.while_running = [this](planner::RunningExecution& /*running*/) {
    await_output("sleep_begins");
    ::kill(::getpid(), SIGKILL);
  };
  const RunResult result =
      run_actions({"sleeper", "fd", "99", "mkdir", "sleep_begins", "sleep", "600"}, launch);
  EXPECT_FALSE(result.supervisor_lived);
  const int sleeper = result.number_after("sleeper");
  ASSERT_GT(sleeper, 0) << result.output;
  EXPECT_TRUE(gone(sleeper));
  const auto started = result.first<schema::ProcessStarted>();
  ASSERT_TRUE(started);
  EXPECT_TRUE(gone(static_cast<int>(started->pid)));
}

TEST_P(LifecycleTest, AWardenThatIsKilledEndsTheRunAsEvidenceFailureWithNobodyLeft) {
  Launch launch;
  launch.while_running = [this](planner::RunningExecution& running) {
    await_output("sleep_begins");
    ::kill(parent_of(static_cast<int>(running.started().pid)), SIGKILL);
  };
  const RunResult result =
      run_actions({"sleeper", "mkdir", "sleep_begins", "sleep", "600"}, launch);
  ASSERT_TRUE(result.supervisor_lived);
  const auto exited = result.first<schema::ProcessExited>();
  ASSERT_TRUE(exited) << result.closed.detail;
  EXPECT_EQ(exited->cause, ExitCause::kEvidenceFailure);
  EXPECT_TRUE(gone(result.number_after("sleeper")));
  EXPECT_TRUE(gone(static_cast<int>(result.first<schema::ProcessStarted>()->pid)));
}

TEST_P(LifecycleTest, TerminatingReportsTheGivenCause) {
  Launch launch;
  launch.while_running = [this](planner::RunningExecution& running) {
    await_output("sleep_begins");
    running.terminate(ExitCause::kWallClock);
  };
  const RunResult result =
      run_actions({"sleeper", "mkdir", "sleep_begins", "sleep", "600"}, launch);
  const auto exited = result.first<schema::ProcessExited>();
  ASSERT_TRUE(exited) << result.closed.detail;
  EXPECT_EQ(exited->cause, ExitCause::kWallClock);
  EXPECT_EQ(exited->signal, SIGKILL);
  EXPECT_EQ(exited->descendants_killed, 1);
  EXPECT_TRUE(gone(result.number_after("sleeper")));
}

TEST_P(LifecycleTest, ASignalIsDeliveredToTheProgram) {
  Launch launch;
  launch.while_running = [this](planner::RunningExecution& running) {
    await_output("sleep_begins");
    EXPECT_TRUE(running.send_signal(SIGTERM));
  };
  const RunResult result = run_actions({"mkdir", "sleep_begins", "sleep", "600"}, launch);
  const auto exited = result.first<schema::ProcessExited>();
  ASSERT_TRUE(exited) << result.closed.detail;
  EXPECT_EQ(exited->signal, SIGTERM);
  EXPECT_EQ(exited->cause, ExitCause::kSignalled);
}

TEST_P(LifecycleTest, TheSignalMaskAndDispositionsAreThoseOfTheCaller) {
  Launch launch;
  launch.before = [] { ::signal(SIGUSR1, SIG_IGN); };
  const RunResult result = run_actions({"kill_self", "10", "exit", "3"}, launch);
  const auto exited = result.first<schema::ProcessExited>();
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->status, 3) << "SIGUSR1 was ignored by the caller";
}

INSTANTIATE_TEST_SUITE_P(Users, LifecycleTest, ::testing::Values(As::kSelf, As::kNobody),
                         name_of_user);

}  // namespace
}  // namespace aasm::backend_native::testing
