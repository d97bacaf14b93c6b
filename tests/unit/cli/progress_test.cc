#include "progress.h"

#include <gtest/gtest.h>

namespace aasm::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class ProgressTest : public testing::Test {
 protected:
  std::string at(milliseconds when, std::uint64_t done, std::uint64_t total) {
    return line_.next(done, total, begin_ + when).value_or("nothing");
  }

  ProgressLine::Clock::time_point begin_{seconds(1000)};
  ProgressLine line_{begin_};
};

TEST_F(ProgressTest, TheFirstAndTheLastLineAreWrittenHoweverSoonTheyCome) {
  EXPECT_EQ(at(milliseconds(1), 256, 512), "\rverifying 256 of 512");
  EXPECT_EQ(at(milliseconds(2), 512, 512), "\rverifying 512 of 512\n");
}

TEST_F(ProgressTest, LinesBetweenAreAtMostTenASecond) {
  EXPECT_NE(at(milliseconds(0), 1, 1000), "nothing");
  EXPECT_EQ(at(milliseconds(99), 2, 1000), "nothing");
  EXPECT_NE(at(milliseconds(100), 3, 1000), "nothing");
  EXPECT_EQ(at(milliseconds(150), 4, 1000), "nothing");
}

TEST_F(ProgressTest, TimeLeftIsThatOfTheRateSoFar) {
  EXPECT_EQ(at(milliseconds(999), 100, 1000), "\rverifying 100 of 1000");
  EXPECT_EQ(at(seconds(10), 500, 1000), "\rverifying 500 of 1000, 11 s left");
  EXPECT_EQ(at(seconds(20), 100, 10000), "\rverifying 100 of 10000, 34 min left");
}

TEST_F(ProgressTest, AShorterLineCoversTheOneBefore) {
  const std::string longer = at(seconds(10), 500, 1000);
  const std::string last = at(seconds(20), 1000, 1000);
  EXPECT_EQ(last.size(), longer.size() + 1);
  EXPECT_TRUE(last.starts_with("\rverifying 1000 of 1000 "));
  EXPECT_EQ(last.back(), '\n');
}

TEST_F(ProgressTest, ALedgerOfNothingIsDone) {
  EXPECT_EQ(at(seconds(5), 0, 0), "\rverifying 0 of 0\n");
}

}  // namespace
}  // namespace aasm::cli
