#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "aasm/ledger/key_change.h"
#include "aasm/ledger/reader.h"
#include "aasm/ledger/store.h"
#include "aasm/process/self_confine.h"

#include "support/ledger_check.h"
#include "support/ledger_home.h"

namespace aasm::ledger {
namespace {

using Records = std::vector<PendingRecord>;

void confine_to(const test::LedgerHome& home) {
  const process::Fd state(::open(home.home().c_str(), O_PATH | O_CLOEXEC));
  const process::Fd host(::open("/proc", O_PATH | O_CLOEXEC));  // what a run is on
  const process::ConfinementReport report =
      process::confine_self({{host.borrow()}, {state.borrow()}, 7});
  ASSERT_TRUE(report.filter) << report.text();
}

// In a child of its own; a failure of `work` is its exit status.
int status_confined(const test::LedgerHome& home, const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    confine_to(home);
    work();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

std::uint64_t num_records(const test::LedgerHome& home) {
  return LedgerReader::open(home.paths().ledger).value().status().value().records;
}

// Case 43. The supervisor writes without confinement of its own (docs/architecture.md); should it
// ever have the one that aasm has for itself, locks, writes, synchronising and new keys go on.
TEST(StoreConfinedTest, TheWriterOpensAppendsSynchronisesAndRotatesUnderTheConfinementOfVerify) {
  const test::LedgerHome home;
  EXPECT_EQ(status_confined(home,
                            [&] {
                              Store store = home.open();
                              const test::TestRun run;
                              EXPECT_TRUE(store.append_durably(Records{run.opened(store)}));
                              EXPECT_TRUE(store.append_durably(Records{run.closed()}));
                              EXPECT_TRUE(store.release());
                            }),
            0);
  EXPECT_EQ(num_records(home), 3U);
  EXPECT_EQ(test::LedgerCheck::run(home.paths()), "");
  EXPECT_EQ(status_confined(home,
                            [&] {
                              using ledger_format::KeyPurpose;
                              EXPECT_TRUE(rotate_key(home.paths(), KeyPurpose::kHost));
                              EXPECT_TRUE(rotate_key(home.paths(), KeyPurpose::kLog));
                            }),
            0);
  EXPECT_EQ(num_records(home), 5U);
  EXPECT_TRUE(home.try_open());
}

}  // namespace
}  // namespace aasm::ledger
