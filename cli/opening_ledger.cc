#include "opening_ledger.h"

namespace aasm::cli {

namespace {

// Yields the mask before.
sigset_t block_stops() {
  sigset_t before;
  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : {SIGTSTP, SIGTTIN, SIGTTOU}) {
    sigaddset(&stops, stop);
  }
  pthread_sigmask(SIG_BLOCK, &stops, &before);
  return before;
}

}  // namespace

OpeningLedger::OpeningLedger(const Home& home, const CommonOptions& common)
    : before_(block_stops()), ledger_(RunLedger::begin(home, common)) {}

OpeningLedger::~OpeningLedger() {
  wait();
}

void OpeningLedger::wait_readable() {
  if (ledger_) {
    ledger_->wait_readable();
  }
}

schema::Result<RunLedger>& OpeningLedger::wait() {
  if (waited_) {
    return ledger_;
  }
  waited_ = true;
  if (ledger_) {
    if (schema::Result<void> opened = ledger_->wait_open(); !opened) {
      ledger_ = std::move(opened).error();
    }
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  return ledger_;
}

}  // namespace aasm::cli
