#include "aasm/process/descendants.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include <gtest/gtest.h>

#include "aasm/process/fd.h"

#include "as_user.h"

namespace aasm::process {
namespace {

using std::chrono::milliseconds;

pid_t start_sleeper() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) {
      ::pause();
    }
  }
  return pid;
}

// A process that has left its parent and session: its parent ends at once. It holds `alive` open.
void start_daemon(BorrowedFd alive) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setsid();
    if (::fork() == 0) {
      for (;;) {
        ::pause();
      }
    }
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  static_cast<void>(alive);
}

// Without a descendant left, nobody holds the other end of the pipe.
bool at_end_of_file(const Fd& read_end) {
  char byte = 0;
  return ::read(read_end.get(), &byte, 1) == 0;
}

std::string kill_daemons() {
  AASM_CHILD_CHECK(become_subreaper().has_value(), "");
  Pipe pipe = std::move(make_pipe()).value();
  constexpr std::size_t kCount = 10;
  for (std::size_t i = 0; i < kCount; ++i) {
    start_daemon(pipe.write_end.borrow());
  }
  pipe.write_end.reset();
  const auto killed = kill_descendants({}, milliseconds(5000));
  AASM_CHILD_CHECK(killed.has_value(), killed.error().message());
  AASM_CHILD_CHECK(*killed == kCount, std::to_string(*killed));
  AASM_CHILD_CHECK(at_end_of_file(pipe.read_end), "");
  AASM_CHILD_CHECK(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD, "");
  return {};
}

class DescendantsTest : public testing::TestWithParam<bool> {};

TEST_P(DescendantsTest, ProcessesThatLeftTheirSessionAreKilledAndCounted) {
  EXPECT_EQ(test::run_in_child(GetParam(), kill_daemons), "");
}

TEST_P(DescendantsTest, KeptChildSurvives) {
  EXPECT_EQ(test::run_in_child(GetParam(),
                               []() -> std::string {
                                 const pid_t kept = start_sleeper();
                                 const pid_t killed = start_sleeper();
                                 const auto count = kill_descendants({kept}, milliseconds(5000));
                                 AASM_CHILD_CHECK(count.has_value() && *count == 1, "");
                                 AASM_CHILD_CHECK(::kill(kept, 0) == 0, "");
                                 AASM_CHILD_CHECK(::kill(killed, 0) == -1, "");
                                 ::kill(kept, SIGKILL);
                                 return {};
                               }),
            "");
}

TEST_P(DescendantsTest, ListHoldsChildrenAndZombies) {
  EXPECT_EQ(test::run_in_child(GetParam(),
                               []() -> std::string {
                                 AASM_CHILD_CHECK(list_children().value().empty(), "");
                                 const pid_t sleeper = start_sleeper();
                                 const pid_t zombie = ::fork();
                                 if (zombie == 0) {
                                   ::_exit(0);
                                 }
                                 siginfo_t info = {};
                                 ::waitid(P_PID, static_cast<id_t>(zombie), &info,
                                          WEXITED | WNOWAIT);
                                 const std::vector<pid_t> expected = {sleeper, zombie};
                                 AASM_CHILD_CHECK(list_children().value() == expected, "");
                                 ::kill(sleeper, SIGKILL);
                                 return {};
                               }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Users, DescendantsTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

}  // namespace
}  // namespace aasm::process
