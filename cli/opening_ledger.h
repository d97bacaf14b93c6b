#pragma once

#include <pthread.h>
#include <signal.h>

#include <optional>

#include "run_ledger.h"

namespace aasm::cli {

// RunLedger::open() on a thread of its own, while the launch is gathered and planned: either takes
// about as long. Nothing of a run may be done before wait() has returned the ledger: no probe, no
// output file, no record.
//
// Until wait() the calling thread keeps the job-control signals blocked, as a Store demands of
// every thread of a program while a transaction may be open.
class OpeningLedger {
 public:
  // Both arguments outlive the object.
  OpeningLedger(const Home& home, const CommonOptions& common);
  ~OpeningLedger();
  OpeningLedger(const OpeningLedger&) = delete;
  OpeningLedger& operator=(const OpeningLedger&) = delete;

  // The ledger, or why there is none. Waits the first time.
  schema::Result<RunLedger>& wait();

 private:
  static void* entry(void* self);

  const Home& home_;
  const CommonOptions& common_;
  std::optional<schema::Result<RunLedger>> opened_;  // the thread's until it is joined
  pthread_t thread_{};
  bool running_ = false;
  sigset_t before_{};
};

}  // namespace aasm::cli
