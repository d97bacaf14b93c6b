#pragma once

#include <signal.h>

#include "run_ledger.h"

namespace aasm::cli {

// The ledger, which is opened on its own thread while the launch is gathered and planned: either
// takes about as long. Nothing of a run may be done before wait() has returned the ledger: no
// probe, no output file, no record.
//
// Until wait() the calling thread keeps the job-control signals blocked, as a Store demands of
// every thread of a program while a transaction may be open.
class OpeningLedger {
 public:
  OpeningLedger(const Home& home, const CommonOptions& common);
  ~OpeningLedger();
  OpeningLedger(const OpeningLedger&) = delete;
  OpeningLedger& operator=(const OpeningLedger&) = delete;

  // Until somebody else can read the ledger without being held up by the opening.
  void wait_readable();
  // The ledger, or why there is none. Waits the first time.
  schema::Result<RunLedger>& wait();

 private:
  sigset_t before_;
  schema::Result<RunLedger> ledger_;
  bool waited_ = false;
};

}  // namespace aasm::cli
