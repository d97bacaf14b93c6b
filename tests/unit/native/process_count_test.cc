#include "process_count.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/process/proc_status.h"

#include "process_list.h"

namespace aasm::backend_native {
namespace {

// A process that does `work` and then sleeps until it is killed with the test.
class Child {
 public:
  explicit Child(const std::function<void()>& work = [] {}) : pid_(::fork()) {
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      work();
      for (;;) {
        ::pause();
      }
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  pid_t pid() const { return pid_; }
  // Until it has done its work.
  void wait_until_asleep() const {
    for (int i = 0; i < 1000; ++i) {
      const schema::Result<process::ProcStat> stat = process::read_proc_stat(pid_);
      if (stat && stat->state == 'S') {
        return;
      }
      ::usleep(10000);
    }
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  void end() {
    if (pid_ > 0) {
      kill();
      ::waitpid(pid_, nullptr, 0);
      pid_ = -1;
    }
  }

 private:
  pid_t pid_;
};

// This process stands for the warden, so it takes in orphans.
class ProcessCountTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0); }
  void TearDown() override {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }
  static ProcessCeiling ceiling(std::int64_t max) { return {max, "processes.max"}; }

  Child program_;
};

TEST_F(ProcessCountTest, AloneOrWithoutAnyItPermitsNothing) {
  for (const std::int64_t max : {0, 1}) {
    ProcessCount count(ceiling(max), ::getpid(), program_.pid());
    EXPECT_FALSE(count.admits(program_.pid()));
  }
}

TEST_F(ProcessCountTest, PermitsUpToTheCeilingAndAgainWhenOneHasGone) {
  ProcessCount count(ceiling(3), ::getpid(), program_.pid());
  ASSERT_TRUE(count.admits(program_.pid()));
  Child first;
  ASSERT_TRUE(count.admits(program_.pid()));
  Child second;
  EXPECT_FALSE(count.admits(program_.pid()));
  second.end();
  EXPECT_TRUE(count.admits(program_.pid()));
}

TEST_F(ProcessCountTest, APermissionThatIsNotSeenThroughYetCounts) {
  ProcessCount count(ceiling(3), ::getpid(), program_.pid());
  ASSERT_TRUE(count.admits(program_.pid()));
  // It runs, so nobody can tell whether it is still in the call.
  Child busy([] {
    const volatile bool runs = true;  // a loop without any effect may be taken for one that ends
    while (runs) {
    }
  });
  ASSERT_TRUE(count.admits(busy.pid()));
  EXPECT_FALSE(count.admits(program_.pid())) << "the third may be born any moment";
}

TEST_F(ProcessCountTest, ACallerThatSleepsElsewhereOrAsksAgainIsThroughWithItsLastOne) {
  program_.wait_until_asleep();
  ProcessCount count(ceiling(2), ::getpid(), program_.pid());
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(count.admits(program_.pid())) << i;  // each of them was gone at once
  }
  ProcessCount other(ceiling(3), ::getpid(), program_.pid());
  ASSERT_TRUE(other.admits(program_.pid()));
  Child sleeper;
  sleeper.wait_until_asleep();
  ASSERT_TRUE(other.admits(sleeper.pid()));
  EXPECT_TRUE(other.admits(program_.pid())) << "the sleeper's came to nothing";
}

TEST_F(ProcessCountTest, WhatWasThereBesideTheProgramIsOfOurs) {
  Child broker;
  ProcessCount count(ceiling(2), ::getpid(), program_.pid());
  ASSERT_TRUE(count.admits(program_.pid()));
  EXPECT_TRUE(count.admits(program_.pid())) << "none was born";
  Child first;
  EXPECT_FALSE(count.admits(program_.pid()));
}

TEST_F(ProcessCountTest, AnUnreapedProcessCountsUntilItsParentHasWaited) {
  ProcessCount count(ceiling(3), ::getpid(), program_.pid());
  ASSERT_TRUE(count.admits(program_.pid()));
  Child parent([] {
    if (::fork() == 0) {
      ::_exit(0);
    }
  });
  ASSERT_TRUE(count.admits(parent.pid()));
  ::usleep(100000);
  EXPECT_FALSE(count.admits(program_.pid()));
  parent.end();  // its zombie falls to us, who are about to reap it
  EXPECT_TRUE(count.admits(program_.pid()));
}

TEST(ProcessListTest, HoldsWhoeverDescendsAndNobodyElse) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  Child parent([&pipe] {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setsid();
      return;  // sleeps
    }
    [[maybe_unused]] const auto written = ::write(pipe[1], &pid, sizeof pid);
  });
  pid_t grandchild = 0;
  ASSERT_EQ(::read(pipe[0], &grandchild, sizeof grandchild), static_cast<ssize_t>(sizeof(pid_t)));
  const auto listed = [](pid_t root) {
    std::vector<pid_t> pids;
    const auto found = list_descendants(root);
    EXPECT_TRUE(found);
    for (const ListedProcess& one : *found) {
      pids.push_back(one.pid);
    }
    return pids;
  };
  const auto holds = [](const std::vector<pid_t>& pids, pid_t pid) {
    return std::find(pids.begin(), pids.end(), pid) != pids.end();
  };
  EXPECT_TRUE(holds(listed(::getpid()), parent.pid()));
  EXPECT_TRUE(holds(listed(::getpid()), grandchild));
  EXPECT_FALSE(holds(listed(::getpid()), ::getpid()));
  EXPECT_FALSE(holds(listed(::getpid()), ::getppid()));
  EXPECT_EQ(listed(parent.pid()), std::vector<pid_t>{grandchild});
  parent.end();
  EXPECT_TRUE(holds(listed(::getpid()), grandchild)) << "an orphan stays in the tree";
  ::kill(grandchild, SIGKILL);
  ::waitpid(grandchild, nullptr, 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace aasm::backend_native
