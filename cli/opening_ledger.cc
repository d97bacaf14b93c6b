#include "opening_ledger.h"

namespace aasm::cli {

// pthread_create(3) and not std::thread: that throws when there is no thread to be had.
OpeningLedger::OpeningLedger(const Home& home, const CommonOptions& common)
    : home_(home), common_(common) {
  sigset_t all;
  sigfillset(&all);
  sigset_t stops;
  sigemptyset(&stops);
  for (const int stop : {SIGTSTP, SIGTTIN, SIGTTOU}) {
    sigaddset(&stops, stop);
  }
  // The thread inherits the mask, so that no signal is ever handled on it.
  pthread_sigmask(SIG_SETMASK, &all, &before_);
  running_ = pthread_create(&thread_, nullptr, entry, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);
}

OpeningLedger::~OpeningLedger() {
  wait();
}

void* OpeningLedger::entry(void* self) {
  auto& opening = *static_cast<OpeningLedger*>(self);
  opening.opened_ = RunLedger::open(opening.home_, opening.common_);
  return nullptr;
}

schema::Result<RunLedger>& OpeningLedger::wait() {
  if (running_) {
    pthread_join(thread_, nullptr);
    running_ = false;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  if (!opened_) {
    entry(this);  // no thread was to be had
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  return *opened_;
}

}  // namespace aasm::cli
