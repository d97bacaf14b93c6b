#include "broker_placement.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

std::vector<int> processors_of(pid_t pid) {
  cpu_set_t set;
  std::vector<int> processors;
  if (::sched_getaffinity(pid, sizeof set, &set) == 0) {
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(static_cast<std::size_t>(i), &set)) {
        processors.push_back(i);
      }
    }
  }
  return processors;
}

void allow(pid_t pid, const std::vector<int>& processors) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) {
    CPU_SET(static_cast<std::size_t>(processor), &set);
  }
  ASSERT_EQ(::sched_setaffinity(pid, sizeof set, &set), 0);
}

class BrokerPlacementTest : public ::testing::Test {
 protected:
  void SetUp() override {
    all_ = processors_of(0);
    broker_ = ::fork();
    if (broker_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) {
        ::pause();
      }
    }
    ASSERT_GT(broker_, 0);
  }
  void TearDown() override {
    allow(0, all_);
    ::kill(broker_, SIGKILL);
    ::waitpid(broker_, nullptr, 0);
  }

  std::vector<int> all_;
  pid_t broker_ = -1;
};

TEST_F(BrokerPlacementTest, FollowsTheThreadThatOrdersOneCallAtATime) {
  if (all_.size() < 2) {
    GTEST_SKIP() << "one processor";
  }
  BrokerPlacement placement(broker_);
  EXPECT_EQ(processors_of(broker_), all_);
  for (const int processor : {all_[0], all_[1]}) {
    allow(0, {processor});
    placement.follow(false);
    EXPECT_EQ(processors_of(broker_), std::vector<int>{processor});
  }
  placement.follow(true);
  EXPECT_EQ(processors_of(broker_), all_);
}

TEST_F(BrokerPlacementTest, LeavesABrokerAloneThatMayUseOneOnly) {
  if (all_.size() < 2) {
    GTEST_SKIP() << "one processor";
  }
  allow(broker_, {all_[0]});
  BrokerPlacement placement(broker_);
  allow(0, {all_[1]});
  placement.follow(false);
  EXPECT_EQ(processors_of(broker_), std::vector<int>{all_[0]});
}

}  // namespace
}  // namespace aasm::backend_native
