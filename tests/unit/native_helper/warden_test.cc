#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/process/descendants.h"
#include "aasm/process/pidfd.h"
#include "aasm/process/proc_status.h"

#include "as_user.h"
#include "launch_harness.h"

namespace aasm::test {
namespace {

using process::Fd;
using std::chrono::milliseconds;

constexpr int kSleepers = 18;

// Reads `count` pids, one a line, that the sleepers write; fewer when the patience ends.
std::vector<pid_t> read_pids(const Fd& fd, int count) {
  std::string text;
  while (std::count(text.begin(), text.end(), '\n') < count) {
    const auto ready = process::wait_readable(fd.borrow(), kPatience);
    char buffer[512];
    const ssize_t size = ready && *ready ? ::read(fd.get(), buffer, sizeof(buffer)) : 0;
    if (size <= 0) {
      break;
    }
    text.append(buffer, static_cast<std::size_t>(size));
  }
  std::vector<pid_t> pids;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    pids.push_back(std::stoi(text.substr(at)));
  }
  return pids;
}

// Waits until none of the processes exists, zombies counted as existing.
bool all_gone(const std::vector<pid_t>& pids, milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto exists = [](pid_t pid) { return ::kill(pid, 0) == 0 || errno != ESRCH; };
  while (std::any_of(pids.begin(), pids.end(), exists)) {
    if (std::chrono::steady_clock::now() >= deadline) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

// A launch of the probe that starts sleepers, and their pids.
struct Sleepers {
  Launch launch;
  std::vector<pid_t> pids;
};

schema::Result<Sleepers> start_sleepers(const std::string& mode) {
  const auto probe = open_probe_program();
  process::Pipe pipe = AASM_TRY(process::make_pipe());
  auto spec = probe.spec({mode, std::to_string(kSleepers), std::to_string(pipe.write_end.get())});
  spec.descriptors.push_back(pipe.write_end.get());
  Sleepers sleepers;
  sleepers.launch = AASM_TRY(start_launch(spec));
  sleepers.launch.answerer->wait_ready();
  sleepers.launch.answerer->release();
  sleepers.pids = read_pids(pipe.read_end, kSleepers);
  return sleepers;
}

class WardenTest : public testing::TestWithParam<bool> {
 protected:
  static void expect_passes(const std::function<std::string()>& body) {
    EXPECT_EQ(run_in_child(GetParam(), body), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Users, WardenTest, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "Nobody" : "Caller");
});

TEST_P(WardenTest, SleepersThatLeftTheirSessionAreKilledOnRequestAndCounted) {
  expect_passes([]() -> std::string {
    auto sleepers = start_sleepers("sleepers");
    AASM_CHILD_CHECK(sleepers.has_value(), sleepers.error().message());
    AASM_CHILD_CHECK(sleepers->pids.size() == kSleepers, std::to_string(sleepers->pids.size()));
    auto& client = *sleepers->launch.client;
    const auto exit = client.wait_exit(kPatience);
    AASM_CHILD_CHECK(exit && *exit && (*exit)->wait_status == 0, "");
    AASM_CHILD_CHECK(::kill(sleepers->pids.front(), 0) == 0, "the sleepers ended by themselves");
    const auto killed = client.kill_tree(milliseconds(1000));
    AASM_CHILD_CHECK(killed.has_value(), killed.error().message());
    AASM_CHILD_CHECK(*killed == kSleepers, std::to_string(*killed));
    AASM_CHILD_CHECK(all_gone(sleepers->pids, milliseconds(0)), "");
    return {};
  });
}

TEST_P(WardenTest, RunningProgramIsKilledOnRequestAndNotCountedAsDescendant) {
  expect_passes([]() -> std::string {
    auto sleepers = start_sleepers("stay");
    AASM_CHILD_CHECK(sleepers.has_value(), sleepers.error().message());
    auto& client = *sleepers->launch.client;
    const auto killed = client.kill_tree(milliseconds(1000));
    AASM_CHILD_CHECK(killed.has_value(), killed.error().message());
    AASM_CHILD_CHECK(*killed == kSleepers, std::to_string(*killed));
    const auto exit = client.wait_exit(milliseconds(0));
    AASM_CHILD_CHECK(exit && *exit && WTERMSIG((*exit)->wait_status) == SIGKILL, "");
    return {};
  });
}

TEST_P(WardenTest, NothingLeftMeansNobodyKilled) {
  expect_passes([]() -> std::string {
    const auto probe = open_probe_program();
    auto launch = start_launch(probe.spec({"exit", "0"}));
    AASM_CHILD_CHECK(launch.has_value(), launch.error().message());
    launch->answerer->wait_ready();
    launch->answerer->release();
    AASM_CHILD_CHECK(launch->client->wait_exit(kPatience).has_value(), "");
    const auto killed = launch->client->kill_tree(milliseconds(1000));
    AASM_CHILD_CHECK(killed && *killed == 0, "");
    return {};
  });
}

TEST_P(WardenTest, ClientThatGoesAwayLeavesNoProcess) {
  expect_passes([]() -> std::string {
    std::vector<pid_t> pids;
    {
      auto sleepers = start_sleepers("stay");
      AASM_CHILD_CHECK(sleepers.has_value(), sleepers.error().message());
      pids = sleepers->pids;
      pids.push_back(sleepers->launch.client->child_pid());
      pids.push_back(sleepers->launch.client->warden_pid());
    }
    AASM_CHILD_CHECK(all_gone(pids, milliseconds(0)), "");
    AASM_CHILD_CHECK(::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD, "");
    return {};
  });
}

// A supervisor in a process of its own, which tells the pids of its tree and then waits.
pid_t start_supervisor(const Fd& report) {
  const pid_t pid = ::fork();
  if (pid != 0) {
    return pid;
  }
  auto sleepers = start_sleepers("stay");
  if (sleepers) {
    sleepers->pids.push_back(sleepers->launch.client->child_pid());
    sleepers->pids.push_back(sleepers->launch.client->warden_pid());
    std::string text;
    for (const pid_t member : sleepers->pids) {
      text += std::to_string(member) + "\n";
    }
    static_cast<void>(::write(report.get(), text.data(), text.size()) > 0);
  }
  for (;;) {
    ::pause();
  }
}

TEST_P(WardenTest, TreeIsGoneWithinASecondOfTheSupervisorsDeath) {
  expect_passes([]() -> std::string {
    process::Pipe pipe = std::move(process::make_pipe()).value();
    // The warden is then our child, and we can see its end.
    AASM_CHILD_CHECK(process::become_subreaper().has_value(), "");
    const pid_t supervisor = start_supervisor(pipe.write_end);
    auto pids = read_pids(pipe.read_end, kSleepers + 2);
    AASM_CHILD_CHECK(pids.size() == kSleepers + 2, std::to_string(pids.size()));
    const pid_t warden = pids.back();
    pids.pop_back();
    AASM_CHILD_CHECK(::kill(pids.front(), 0) == 0, "");
    ::kill(supervisor, SIGKILL);
    ::waitpid(supervisor, nullptr, 0);
    AASM_CHILD_CHECK(all_gone(pids, milliseconds(1000)), "");
    int status = -1;
    AASM_CHILD_CHECK(::waitpid(warden, &status, 0) == warden && status == 0,
                     std::to_string(status));
    return {};
  });
}

TEST_P(WardenTest, TreeIsKilledBySupervisorWhenTheWardenIsDead) {
  expect_passes([]() -> std::string {
    const pid_t bystander = ::fork();
    if (bystander == 0) {
      for (;;) {
        ::pause();
      }
    }
    auto sleepers = start_sleepers("stay");
    AASM_CHILD_CHECK(sleepers.has_value(), sleepers.error().message());
    auto& client = *sleepers->launch.client;
    ::kill(client.warden_pid(), SIGKILL);
    const auto exit = client.wait_exit(kPatience);
    AASM_CHILD_CHECK(!exit.has_value(), "the warden's death went unnoticed");
    const auto killed = client.kill_tree(milliseconds(1000));
    AASM_CHILD_CHECK(killed.has_value(), killed.error().message());
    AASM_CHILD_CHECK(*killed == kSleepers + 1, std::to_string(*killed));
    AASM_CHILD_CHECK(all_gone(sleepers->pids, milliseconds(0)), "");
    AASM_CHILD_CHECK(::kill(bystander, 0) == 0, "a child that is not of the tree was killed");
    ::kill(bystander, SIGKILL);
    return {};
  });
}

// Numbers of the open descriptors of a process, -1 when they cannot be read.
int count_descriptors(pid_t pid) {
  DIR* directory = ::opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (directory == nullptr) {
    return -1;
  }
  int count = 0;
  while (const dirent* entry = ::readdir(directory)) {
    count += entry->d_name[0] == '.' ? 0 : 1;
  }
  ::closedir(directory);
  return count;
}

TEST_P(WardenTest, WardenHoldsNothingOfTheProgramsAndCannotBeRead) {
  expect_passes([]() -> std::string {
    auto sleepers = start_sleepers("stay");
    AASM_CHILD_CHECK(sleepers.has_value(), sleepers.error().message());
    const pid_t warden = sleepers->launch.client->warden_pid();
    AASM_CHILD_CHECK(process::read_proc_stat(warden).value().comm == "aasm-warden", "");
    const int count = count_descriptors(warden);
    // It is not dumpable, so its descriptors are root's to see.
    AASM_CHILD_CHECK(count == (::geteuid() == 0 ? 4 : -1), std::to_string(count));
    return {};
  });
}

TEST_P(WardenTest, TerminalSignalsOfTheGroupDoNotEndTheWarden) {
  expect_passes([]() -> std::string {
    auto sleepers = start_sleepers("stay");
    AASM_CHILD_CHECK(sleepers.has_value(), sleepers.error().message());
    auto& client = *sleepers->launch.client;
    AASM_CHILD_CHECK(::getpgid(client.warden_pid()) == ::getpgrp(), "");
    AASM_CHILD_CHECK(::getpgid(client.child_pid()) == ::getpgrp(), "");
    for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP}) {
      ::kill(client.warden_pid(), signal);
    }
    AASM_CHILD_CHECK(client.kill_tree(milliseconds(1000)).value() == kSleepers, "");
    return {};
  });
}

// Whoever is listed has left its work to a child by the time it is killed, as often as not.
TEST_P(WardenTest, ProcessesThatForkAndExitWithoutPauseAreKilled) {
  expect_passes([]() -> std::string {
    process::Pipe pipe = std::move(process::make_pipe()).value();
    const auto probe = open_probe_program();
    auto spec = probe.spec({"hop", "4", std::to_string(pipe.write_end.get())});
    spec.descriptors.push_back(pipe.write_end.get());
    auto launch = start_launch(spec);
    AASM_CHILD_CHECK(launch.has_value(), launch.error().message());
    pipe.write_end.reset();
    launch->answerer->wait_ready();
    launch->answerer->release();
    char text[8] = {};
    AASM_CHILD_CHECK(::read(pipe.read_end.get(), text, sizeof(text)) == 3, "");
    std::this_thread::sleep_for(milliseconds(20));
    const auto killed = launch->client->kill_tree(kPatience);
    AASM_CHILD_CHECK(killed.has_value(), killed.error().message());
    AASM_CHILD_CHECK(*killed >= 4, std::to_string(*killed));
    // Every one of them held the pipe open.
    AASM_CHILD_CHECK(::read(pipe.read_end.get(), text, sizeof(text)) == 0, "");
    return {};
  });
}

}  // namespace
}  // namespace aasm::test
