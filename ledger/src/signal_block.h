#pragma once

#include <signal.h>

namespace aasm::ledger {

// Blocks the job-control signals in this thread while it lives, so that a process is not stopped
// while it holds the ledger's write lock (docs/spec/ledger-format.md rule 4.1).
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigaddset(&stops, SIGTTIN);
    sigaddset(&stops, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &stops, &before_);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace aasm::ledger
