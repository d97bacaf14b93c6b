#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "aasm/process/exec_target.h"
#include "aasm/process/pidfd.h"

#include "as_user.h"
#include "launch_harness.h"
#include "temp_dir.h"

namespace aasm::test {
namespace {

using backend_native::FrameSpec;
using wire::Step;
using wire::StepState;

bool exited_with(const backend_native::ChildExit& exit, int status) {
  return WIFEXITED(exit.wait_status) && WEXITSTATUS(exit.wait_status) == status;
}

std::string text_of(const schema::Error& error) {
  return error.message();
}

// Every test runs once as the caller and once as nobody.
class LaunchTest : public testing::TestWithParam<bool> {
 protected:
  static void expect_passes(const std::function<std::string()>& body) {
    EXPECT_EQ(run_in_child(GetParam(), body), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Users, LaunchTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

TEST_P(LaunchTest, ExitStatusOfTheProgramIsReported) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    const auto finished = run_launch(probe.spec({"exit", "42"}));
    AASM_CHILD_CHECK(finished.has_value(), text_of(finished.error()));
    AASM_CHILD_CHECK(exited_with(finished->exit, 42), "");
    AASM_CHILD_CHECK(!finished->results.failed_step, "");
    AASM_CHILD_CHECK(finished->results.exec_errno == 0, "");
    return {};
  });
}

TEST_P(LaunchTest, StatusIsReportedAlsoWhereTheCallerIgnoresTheEndOfChildren) {
  expect_passes([]() -> std::string {
    ::signal(SIGCHLD, SIG_IGN);
    const auto probe = open_probe_program();
    const auto finished = run_launch(probe.spec({"exit", "42"}));
    AASM_CHILD_CHECK(finished.has_value(), text_of(finished.error()));
    AASM_CHILD_CHECK(exited_with(finished->exit, 42), "");
    return {};
  });
}

TEST_P(LaunchTest, SignalThatEndedTheProgramIsReported) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    const auto finished = run_launch(probe.spec({"signal", std::to_string(SIGABRT)}));
    AASM_CHILD_CHECK(finished.has_value(), text_of(finished.error()));
    AASM_CHILD_CHECK(WIFSIGNALED(finished->exit.wait_status), "");
    AASM_CHILD_CHECK(WTERMSIG(finished->exit.wait_status) == SIGABRT, "");
    return {};
  });
}

TEST_P(LaunchTest, ResourceUseIsThatOfTheProgram) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    const auto finished = run_launch(probe.spec({"spin", "200"}));
    AASM_CHILD_CHECK(finished.has_value(), text_of(finished.error()));
    const auto used = finished->exit.user_us + finished->exit.system_us;
    AASM_CHILD_CHECK(used >= 200'000 && used < 400'000, std::to_string(used));
    AASM_CHILD_CHECK(finished->exit.max_rss_kib > 500, "");
    return {};
  });
}

TEST_P(LaunchTest, ArgumentsAndEnvironmentArriveByteForByte) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto spec = probe.spec({"", "a b", "\xFF\xFE", "line\nbreak", std::string(120 * 1024, 'x')});
    spec.environment = {"A=", "B=\x80", "=odd", "A=twice", ""};
    const auto dump = run_dump(spec);
    AASM_CHILD_CHECK(dump.has_value(), text_of(dump.error()));
    const std::vector<std::string> tail(dump->args.begin() + 3, dump->args.end());
    AASM_CHILD_CHECK(tail == std::vector<std::string>(spec.argv.begin() + 1, spec.argv.end()), "");
    AASM_CHILD_CHECK(dump->environment == spec.environment, "");
    return {};
  });
}

TEST_P(LaunchTest, NoEnvironmentMeansAnEmptyOne) {
  expect_passes([]() -> std::string {
    const auto dump = run_dump(open_probe_program().spec({}));
    AASM_CHILD_CHECK(dump.has_value(), text_of(dump.error()));
    AASM_CHILD_CHECK(dump->environment.empty(), "");
    return {};
  });
}

TEST_P(LaunchTest, ProgramHasNoDescriptorThatIsNotListed) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    const auto canary = std::move(process::open_file("/dev/null", O_RDONLY)).value();
    const auto kept = std::move(process::open_file("/dev/null", O_RDONLY)).value();
    const process::Fd highest(::fcntl(canary.get(), F_DUPFD_CLOEXEC, 300));
    auto spec = probe.spec({});
    spec.descriptors = {kept.get(), 1};
    const auto dump = run_dump(spec, AASM_HELPER, {canary.get(), highest.get()});
    AASM_CHILD_CHECK(dump.has_value(), text_of(dump.error()));
    const int dump_fd = std::stoi(dump->args.at(2));
    AASM_CHILD_CHECK((dump->descriptors == std::set<int>{1, kept.get(), dump_fd}), "");
    return {};
  });
}

TEST_P(LaunchTest, ScriptRunsByItsPathWhenItIsTheFileThatWasHashed) {
  expect_passes([]() -> std::string {
    const TempDir dir;
    const std::string path = dir.file("script");
    std::ofstream(path) << "#!" AASM_LAUNCH_PROBE " exit\n";
    AASM_CHILD_CHECK(::chmod(path.c_str(), 0755) == 0, "");
    const auto probe = open_probe_program();
    auto spec = probe.spec({"9"});
    spec.exec_fd = -1;
    spec.exec_path = path;
    spec.exec_identity =
        backend_native::exec_identity(std::move(process::identity_of(path)).value());
    const auto finished = run_launch(spec);
    AASM_CHILD_CHECK(finished.has_value(), text_of(finished.error()));
    // The kernel gives the probe "exit", the script's path and "9".
    AASM_CHILD_CHECK(exited_with(finished->exit, 9), "");
    const auto& target = finished->results.steps[static_cast<std::size_t>(Step::kTarget)];
    AASM_CHILD_CHECK(target.state == static_cast<unsigned>(StepState::kDone), "");
    return {};
  });
}

TEST_P(LaunchTest, ScriptThatIsAnotherFileByNowIsNotRun) {
  struct Row {
    const char* name;
    void (*change)(wire::ExecIdentity&);
  };
  const Row rows[] = {
      {"inode", [](wire::ExecIdentity& identity) { ++identity.inode; }},
      {"size", [](wire::ExecIdentity& identity) { ++identity.size_bytes; }},
      {"seconds", [](wire::ExecIdentity& identity) { ++identity.ctime_sec; }},
      {"nanoseconds", [](wire::ExecIdentity& identity) { ++identity.ctime_nsec; }},
      {"major", [](wire::ExecIdentity& identity) { ++identity.dev_major; }},
      {"minor", [](wire::ExecIdentity& identity) { ++identity.dev_minor; }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    expect_passes([&row]() -> std::string {
      const auto probe = open_probe_program();
      auto spec = probe.spec({"exit", "0"});
      spec.exec_fd = -1;
      spec.exec_path = AASM_LAUNCH_PROBE;
      spec.exec_identity = backend_native::exec_identity(
          std::move(process::identity_of(std::string(AASM_LAUNCH_PROBE))).value());
      row.change(*spec.exec_identity);
      const auto helper = std::move(process::open_file(AASM_HELPER, O_PATH)).value();
      auto client = backend_native::HelperClient::spawn({helper.borrow(), spec, {}}, kPatience);
      AASM_CHILD_CHECK(client.has_value(), text_of(client.error()));
      AASM_CHILD_CHECK(!client->wait_filter_installed(kPatience), "");
      const auto exit = client->wait_exit(kPatience);
      AASM_CHILD_CHECK(exit && *exit && exited_with(**exit, wire::kHelperExitStatus), "");
      AASM_CHILD_CHECK(client->results().failed_step == Step::kTarget, "");
      const auto report = client->results().steps[static_cast<std::size_t>(Step::kTarget)];
      AASM_CHILD_CHECK(report.os_errno == ESTALE, std::to_string(report.os_errno));
      return {};
    });
  }
}

// Launches a file that cannot be executed and yields what was reported.
std::string expect_exec_errno(const FrameSpec& spec, int os_errno) {
  const auto finished = run_launch(spec);
  AASM_CHILD_CHECK(finished.has_value(), text_of(finished.error()));
  AASM_CHILD_CHECK(exited_with(finished->exit, wire::kHelperExitStatus), "");
  AASM_CHILD_CHECK(finished->results.exec_errno == os_errno,
                   std::to_string(finished->results.exec_errno));
  AASM_CHILD_CHECK(finished->results.failed_step == Step::kExec, "");
  return {};
}

TEST_P(LaunchTest, FailedExecByPathIsReportedWithItsErrno) {
  expect_passes([]() -> std::string {
    const TempDir dir;
    std::ofstream(dir.file("plain")) << "x";
    std::ofstream(dir.file("text")) << "text\n";
    ::chmod(dir.file("plain").c_str(), 0644);
    ::chmod(dir.file("text").c_str(), 0755);
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.exec_fd = -1;
    std::string problem;
    spec.exec_path = dir.file("none");
    problem += expect_exec_errno(spec, ENOENT);
    spec.exec_path = dir.file("plain");
    problem += expect_exec_errno(spec, EACCES);
    spec.exec_path = dir.file("text");
    problem += expect_exec_errno(spec, ENOEXEC);
    return problem;
  });
}

TEST_P(LaunchTest, FailedExecByDescriptorIsReportedWithItsErrno) {
  expect_passes([]() -> std::string {
    const TempDir dir;
    std::ofstream(dir.file("plain")) << "x";
    std::ofstream(dir.file("text")) << "text\n";
    ::chmod(dir.file("plain").c_str(), 0644);
    ::chmod(dir.file("text").c_str(), 0755);
    const auto plain = std::move(process::open_file(dir.file("plain"), O_PATH)).value();
    const auto text = std::move(process::open_file(dir.file("text"), O_PATH)).value();
    const auto probe = open_probe_program();
    auto spec = probe.spec({});
    spec.exec_fd = plain.get();
    std::string problem = expect_exec_errno(spec, EACCES);
    spec.exec_fd = text.get();
    return problem + expect_exec_errno(spec, ENOEXEC);
  });
}

TEST_P(LaunchTest, NothingRunsBeforeGoAndNothingWithoutIt) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"exit", "0"}));
    AASM_CHILD_CHECK(launch.has_value(), text_of(launch.error()));
    AASM_CHILD_CHECK(launch->answerer->wait_ready(), "");
    AASM_CHILD_CHECK(launch->answerer->saw_canaries(), "");
    const auto early = launch->client->wait_exit(std::chrono::milliseconds(50));
    AASM_CHILD_CHECK(early.has_value() && !*early, "the child went on without an answer");
    launch->answerer->release(EPERM);
    const auto exit = launch->client->wait_exit(kPatience);
    AASM_CHILD_CHECK(exit && *exit && exited_with(**exit, wire::kHelperExitStatus), "");
    const auto results = launch->client->results();
    AASM_CHILD_CHECK(results.failed_step == Step::kGo, "");
    const auto exec = results.steps[static_cast<std::size_t>(Step::kExec)];
    AASM_CHILD_CHECK(exec.state == static_cast<unsigned>(StepState::kPending), "");
    return {};
  });
}

TEST_P(LaunchTest, ListenerThatClosesEndsTheWaitingChild) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"exit", "0"}));
    AASM_CHILD_CHECK(launch.has_value(), text_of(launch.error()));
    AASM_CHILD_CHECK(launch->answerer->wait_ready(), "");
    launch->answerer.reset();  // closes the only copy
    const auto exit = launch->client->wait_exit(kPatience);
    AASM_CHILD_CHECK(exit && *exit && exited_with(**exit, wire::kHelperExitStatus), "");
    const auto go = launch->client->results().steps[static_cast<std::size_t>(Step::kGo)];
    AASM_CHILD_CHECK(go.os_errno == ENOSYS, std::to_string(go.os_errno));
    return {};
  });
}

TEST_P(LaunchTest, ReportPipeEndsWithTheExecWhileTheProgramRuns) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"spin", "60000"}));
    AASM_CHILD_CHECK(launch.has_value(), text_of(launch.error()));
    AASM_CHILD_CHECK(launch->answerer->wait_ready(), "");
    const auto pipe = launch->client->take_report_pipe();
    char byte = 0;
    AASM_CHILD_CHECK(::read(pipe.get(), &byte, 1) == 1 && byte == 'S', "");
    const auto quiet = process::wait_readable(pipe.borrow(), std::chrono::milliseconds(20));
    AASM_CHILD_CHECK(quiet && !*quiet, "the pipe ended before the exec");
    launch->answerer->release();
    const auto ended = process::wait_readable(pipe.borrow(), kPatience);
    AASM_CHILD_CHECK(ended && *ended && ::read(pipe.get(), &byte, 1) == 0, "");
    const auto exit = launch->client->wait_exit(std::chrono::milliseconds(0));
    AASM_CHILD_CHECK(exit && !*exit, "the program had ended already");
    return {};
  });
}

}  // namespace
}  // namespace aasm::test
