#include "workers.h"

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

}  // namespace
}  // namespace aasm::verifier::test
