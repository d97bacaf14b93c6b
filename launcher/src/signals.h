#pragma once

#include <signal.h>

#include <optional>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::launcher {

// Collects the signals that a caller sends to aasm, so that they can be passed on to the program.
// While it exists they are blocked in this thread and read from a descriptor (signalfd(2)); the
// old mask comes back with the destructor. Stop and continue signals keep their default effect:
// aasm shares the program's process group, so the terminal stops and continues both alike.
class SignalRelay {
 public:
  static schema::Result<SignalRelay> create();
  SignalRelay(SignalRelay&&) noexcept;
  SignalRelay& operator=(SignalRelay&&) = delete;
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay();

  int fd() const { return fd_.get(); }

  // The next signal to pass on, if one is waiting. A signal that the kernel sent to the whole
  // process group (Ctrl-C, hang-up) has reached the program already and is left out.
  std::optional<int> next() const;

 private:
  SignalRelay() = default;
  process::Fd fd_;
  sigset_t old_{};
  bool active_ = false;
};

}  // namespace aasm::launcher
