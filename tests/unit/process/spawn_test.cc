#include "aasm/process/spawn.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "aasm/process/fd.h"

#include "as_user.h"
#include "probe_dump.h"
#include "temp_dir.h"

namespace aasm::process {
namespace {

Fd open_probe() {
  return std::move(open_file(AASM_LAUNCH_PROBE, O_PATH)).value();
}

// Runs the probe's dump with `request` completed, and reads it.
std::optional<test::ProbeDump> dump_of(SpawnRequest request, int dump_fd = 1) {
  Pipe pipe = std::move(make_pipe()).value();
  const Fd program = open_probe();
  request.program = program.borrow();
  std::vector<std::string> argv = {"probe", "dump", std::to_string(dump_fd)};
  argv.insert(argv.end(), request.argv.begin(), request.argv.end());
  request.argv = argv;
  request.descriptors.push_back({dump_fd, pipe.write_end.get()});
  const auto process = spawn(request);
  pipe.write_end.reset();
  if (!process) {
    return std::nullopt;
  }
  const auto text = read_all(pipe.read_end.borrow(), 4U << 20);
  int status = 0;
  ::waitpid(process->pid, &status, 0);
  if (!text || status != 0) {
    return std::nullopt;
  }
  return test::parse_probe_dump(*text);
}

TEST(SpawnTest, ArgumentsAndEnvironmentArriveByteForByte) {
  SpawnRequest request;
  request.argv = {"", "a b", "\xFF\xFE", "line\nbreak", std::string(120'000, 'x')};
  request.environment = {"A=", "B=\x80", "=odd", "A=twice"};
  const auto argv = request.argv;
  const auto environment = request.environment;
  const auto dump = dump_of(std::move(request));
  ASSERT_TRUE(dump.has_value());
  EXPECT_EQ(std::vector<std::string>(dump->args.begin() + 3, dump->args.end()), argv);
  EXPECT_EQ(dump->environment, environment);
}

TEST(SpawnTest, OnlyMappedDescriptorsAreOpen) {
  const Fd other = std::move(open_file("/dev/null", O_RDONLY)).value();
  const int inheritable =
      ::dup(other.get());  // without close-on-exec, as a careless library has it
  SpawnRequest request;
  request.descriptors = {{7, other.get()}, {40, other.get()}};
  const auto dump = dump_of(std::move(request));
  ::close(inheritable);
  ASSERT_TRUE(dump.has_value());
  EXPECT_EQ(dump->descriptors, (std::set<int>{1, 7, 40}));
}

TEST(SpawnTest, DescriptorsCanTradePlaces) {
  Pipe first = std::move(make_pipe()).value();
  Pipe second = std::move(make_pipe()).value();
  const int a = first.write_end.get();
  const int b = second.write_end.get();
  SpawnRequest request;
  // Number a is to be what b is, and the dump goes to it.
  request.descriptors = {{a, b}, {b, a}};
  const Fd program = open_probe();
  request.program = program.borrow();
  request.argv = {"probe", "dump", std::to_string(a)};
  const auto process = spawn(request);
  ASSERT_TRUE(process.has_value());
  first.write_end.reset();
  second.write_end.reset();
  EXPECT_EQ(read_all(first.read_end.borrow(), 1U << 20).value(), "");
  const auto dump = test::parse_probe_dump(read_all(second.read_end.borrow(), 1U << 20).value());
  EXPECT_EQ(dump.descriptors, (std::set<int>{a, b}));
  ::waitpid(process->pid, nullptr, 0);
}

// The bit of a signal in the masks of /proc/PID/status.
bool has_signal(const std::string& mask, int signal) {
  return ((std::stoull(mask, nullptr, 16) >> (signal - 1)) & 1U) != 0;
}

void ignore_nothing(int /*signal*/) {}

TEST(SpawnTest, ChildGetsTheCallersMaskAndIgnoredSignalsButNoHandlers) {
  EXPECT_EQ(test::run_in_child(
                false,
                []() -> std::string {
                  struct sigaction action = {};
                  action.sa_handler = ignore_nothing;
                  ::sigaction(SIGUSR1, &action, nullptr);
                  action.sa_handler = SIG_IGN;
                  ::sigaction(SIGHUP, &action, nullptr);
                  sigset_t blocked;
                  ::sigemptyset(&blocked);
                  ::sigaddset(&blocked, SIGUSR2);
                  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
                  const auto dump = dump_of({});
                  AASM_CHILD_CHECK(dump.has_value(), "");
                  const std::string mask = dump->status_line("SigBlk");
                  AASM_CHILD_CHECK(std::stoull(mask, nullptr, 16) == 1U << (SIGUSR2 - 1), mask);
                  AASM_CHILD_CHECK(has_signal(dump->status_line("SigIgn"), SIGHUP), "");
                  AASM_CHILD_CHECK(!has_signal(dump->status_line("SigIgn"), SIGUSR1), "");
                  AASM_CHILD_CHECK(!has_signal(dump->status_line("SigCgt"), SIGUSR1), "");
                  sigset_t now;
                  ::sigprocmask(SIG_SETMASK, nullptr, &now);
                  AASM_CHILD_CHECK(::sigismember(&now, SIGUSR2) == 1, "the caller's mask changed");
                  AASM_CHILD_CHECK(::sigismember(&now, SIGUSR1) == 0, "the caller's mask changed");
                  return {};
                }),
            "");
}

TEST(SpawnTest, BlockAllBlocksEverySignal) {
  SpawnRequest request;
  request.signals = SpawnSignals::kBlockAll;
  const auto dump = dump_of(std::move(request));
  ASSERT_TRUE(dump.has_value());
  EXPECT_EQ(dump->status_line("SigBlk"), "fffffffffffbfeff");  // all but KILL and STOP
}

TEST(SpawnTest, PidfdAndPidAreThoseOfTheChild) {
  SpawnRequest request;
  const Fd program = open_probe();
  request.program = program.borrow();
  request.argv = {"probe", "exit", "7"};
  const auto process = spawn(request);
  ASSERT_TRUE(process.has_value());
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PIDFD, static_cast<id_t>(process->pidfd.get()), &info, WEXITED), 0);
  EXPECT_EQ(info.si_pid, process->pid);
  EXPECT_EQ(info.si_status, 7);
}

TEST(SpawnTest, EachFailedExecGivesItsErrnoAndLeavesNoProcess) {
  const test::TempDir dir;
  std::ofstream(dir.file("text")) << "just text\n";
  ASSERT_EQ(::chmod(dir.file("text").c_str(), 0755), 0);
  std::ofstream(dir.file("plain")) << "x";
  ASSERT_EQ(::chmod(dir.file("plain").c_str(), 0644), 0);
  struct Row {
    std::string path;
    int os_errno;
  };
  const Row rows[] = {{dir.file("none"), ENOENT},
                      {dir.file("plain"), EACCES},
                      {dir.file("text"), ENOEXEC},
                      {dir.path().string(), EACCES}};
  for (const Row& row : rows) {
    SpawnRequest request;
    request.path = row.path;
    request.argv = {"x"};
    const auto process = spawn(request);
    ASSERT_FALSE(process.has_value()) << row.path;
    EXPECT_EQ(process.error().os_errno(), row.os_errno) << row.path;
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }
}

TEST(SpawnTest, DescriptorThatIsNotOpenIsReported) {
  SpawnRequest request;
  const Fd program = open_probe();
  request.program = program.borrow();
  request.argv = {"probe", "exit", "0"};
  request.descriptors = {{5, 999}};
  const auto process = spawn(request);
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().os_errno(), EBADF);
}

TEST(SpawnTest, RequestThatMakesNoSenseIsRefused) {
  const Fd program = open_probe();
  const auto request = [&] {
    SpawnRequest good;
    good.program = program.borrow();
    good.argv = {"probe", "exit", "0"};
    return good;
  };
  std::vector<SpawnRequest> rows(7, request());
  rows[0].argv.clear();
  rows[1].path = "/bin/true";  // beside a descriptor
  rows[2].program = BorrowedFd(-1);
  rows[3].argv[1] = std::string("a\0b", 3);
  rows[4].environment = {std::string("A\0=", 3)};
  rows[5].descriptors = {{5, program.get()}, {5, program.get()}};
  rows[6].descriptors = {{-1, program.get()}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto process = spawn(rows[i]);
    ASSERT_FALSE(process.has_value()) << i;
    EXPECT_EQ(process.error().code(), schema::ErrorCode::kInvalidArgument) << i;
  }
}

}  // namespace
}  // namespace aasm::process
