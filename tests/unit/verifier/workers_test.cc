#include "workers.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace aasm::verifier::test {
namespace {

TEST(WorkersTest, EveryIndexIsDoneOnceInEveryRound) {
  for (const int threads : {0, 1, 2, 9}) {
    Workers workers(threads);
    for (std::size_t count = 0; count < 300; count += 7) {
      std::vector<std::atomic<int>> done(count);
      workers.for_each(count, [&](std::size_t i) { ++done[i]; });
      for (const std::atomic<int>& times : done) {
        ASSERT_EQ(times, 1);
      }
    }
  }
}

TEST(WorkersTest, NothingIsRunForACountOfZero) {
  Workers workers(3);
  workers.for_each(0, [](std::size_t) { FAIL(); });
}

TEST(WorkersTest, OnlyAllowedIndicesAreDoneAndTheCallersWritesAreSeen) {
  for (const int threads : {1, 2, 9}) {
    Workers workers(threads);
    std::vector<int> input(1000);
    std::vector<int> output(1000);
    const Workers::Task copy = [&](std::size_t i) { output[i] = input[i]; };
    for (int round = 1; round <= 20; ++round) {
      workers.begin(copy);
      for (std::size_t i = 0; i < 900; ++i) {
        input[i] = round;
        if (i % 7 == 0) {
          workers.allow(i + 1);
        }
      }
      workers.allow(900);
      workers.finish();
      EXPECT_EQ(std::count(output.begin(), output.begin() + 900, round), 900);
      EXPECT_EQ(std::count(output.begin() + 900, output.end(), 0), 100);
    }
  }
}

}  // namespace
}  // namespace aasm::verifier::test
