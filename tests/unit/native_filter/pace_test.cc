#include "pace.h"

#include <gtest/gtest.h>

namespace aasm::backend_native {
namespace {

using std::chrono::milliseconds;

class PaceTest : public ::testing::Test {
 protected:
  Pace pace_{3, milliseconds(10)};
  Pace::Clock::time_point now_ = Pace::Clock::now();
};

TEST_F(PaceTest, BurstPassesAndWhatFollowsWaitsItsInterval) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pace_.take(now_), milliseconds(0)) << i;
  }
  EXPECT_GE(pace_.take(now_), milliseconds(10));
  EXPECT_LE(pace_.take(now_), milliseconds(21));
}

TEST_F(PaceTest, WhoWaitsAsToldIsHeldToOneAnInterval) {
  for (int i = 0; i < 3; ++i) {
    pace_.take(now_);
  }
  const auto began = now_;
  for (int i = 0; i < 100; ++i) {
    now_ += pace_.take(now_);
  }
  EXPECT_GE(now_ - began, milliseconds(1000));
  EXPECT_LE(now_ - began, milliseconds(1200));
}

TEST_F(PaceTest, ExhaustedIsWhatWouldWait) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(pace_.exhausted(now_)) << i;
    pace_.take(now_);
  }
  EXPECT_TRUE(pace_.exhausted(now_));
  EXPECT_TRUE(pace_.exhausted(now_ + milliseconds(9)));
  EXPECT_FALSE(pace_.exhausted(now_ + milliseconds(10)));
}

TEST_F(PaceTest, QuietTimeRestoresTheBurstAndNoMore) {
  for (int i = 0; i < 5; ++i) {
    pace_.take(now_);
  }
  now_ += milliseconds(100000);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pace_.take(now_), milliseconds(0)) << i;
  }
  EXPECT_GT(pace_.take(now_), milliseconds(0));
}

}  // namespace
}  // namespace aasm::backend_native
