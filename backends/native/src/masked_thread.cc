#include "masked_thread.h"

#include <signal.h>
#include <unistd.h>

#include <cstdint>

namespace aasm::backend_native {

schema::Result<pthread_t> start_masked_thread(void* (*run)(void*), void* argument) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread{};
  const int failed = ::pthread_create(&thread, nullptr, run, argument);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) {
    return process::system_error("starting a thread", failed);
  }
  return thread;
}

void raise_event(const process::Fd& event) {
  const std::uint64_t one = 1;
  // An eventfd that was never read is far from full, so this cannot fail.
  [[maybe_unused]] const ssize_t written = ::write(event.get(), &one, sizeof(one));
}

}  // namespace aasm::backend_native
