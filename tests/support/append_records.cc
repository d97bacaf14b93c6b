// append_records HOME RECORDS RATE: appends RECORDS records, in runs, to the ledger of HOME, which
// `aasm init` made, RATE a second (0: as fast as it can), each in a transaction of its own; says on
// stdout how many it appended in how many milliseconds.

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aasm/ledger/keystore.h"
#include "aasm/ledger/paths.h"
#include "aasm/ledger/store.h"

#include "support/ledger_home.h"
#include "unit/verifier/long_run.h"

namespace {

using Clock = std::chrono::steady_clock;
using Records = std::vector<aasm::ledger::PendingRecord>;

constexpr long kRecordsOfARun = 100;

// Appends one record whenever its time has come.
class PacedStore {
 public:
  PacedStore(aasm::ledger::Store& store, long rate) : store_(store), rate_(rate) {}

  void append(aasm::ledger::PendingRecord record) {
    if (rate_ > 0) {
      std::this_thread::sleep_until(begin_ + std::chrono::microseconds(1000000 * done_ / rate_));
    }
    Records one;
    one.push_back(std::move(record));
    store_.append(one).value();
    ++done_;
  }
  long done() const { return done_; }
  long took_ms() const {
    return static_cast<long>(
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin_).count());
  }

 private:
  aasm::ledger::Store& store_;
  long rate_;
  long done_ = 0;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: append_records HOME RECORDS RATE\n";
    return 2;
  }
  const auto paths = aasm::ledger::LedgerPaths::in_home(argv[1]);
  const long records = std::strtol(argv[2], nullptr, 10);
  auto store =
      aasm::ledger::Store::open(paths, aasm::ledger::load_keys(paths.keys).value()).value();
  PacedStore paced(store, std::strtol(argv[3], nullptr, 10));
  while (paced.done() < records) {
    const aasm::test::TestRun run;
    const long length = std::min(kRecordsOfARun, std::max(10L, records - paced.done()));
    for (auto& record :
         aasm::verifier::test::long_run(run, store.host_key(), static_cast<std::size_t>(length))) {
      paced.append(std::move(record));
    }
  }
  std::cout << paced.done() << " records in " << paced.took_ms() << " ms\n";
  return 0;
}
