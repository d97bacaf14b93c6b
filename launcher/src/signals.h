#pragma once

#include <signal.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::launcher {

// Collects the signals that a caller sends to aasm, so that they can be passed on to the program.
// While it exists they are blocked in this thread and read from a descriptor (signalfd(2)); the
// old mask comes back with the destructor. Every other thread of the process blocks all signals.
//
// Stop signals are among them: aasm shares the program's process group, so the terminal stops both
// alike, and a supervisor that stops while the program goes on owes it answers. It stops when the
// program has stopped, see stop_with().
class SignalRelay {
 public:
  static schema::Result<SignalRelay> create();
  SignalRelay(SignalRelay&&) noexcept;
  SignalRelay& operator=(SignalRelay&&) = delete;
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay();

  int fd() const { return fd_.get(); }

  // What the caller had blocked, which the program inherits; bit n-1 is signal n.
  std::uint64_t caller_mask() const;

  // Stops this process by `signal`, as the program was, for as long as `program_is_stopped` says
  // true. Returns whether it was stopped and continued; a process group that no shell looks after
  // is not stopped by a terminal's signals.
  bool stop_with(int signal, const std::function<bool()>& program_is_stopped) const;

  // The next signal to pass on, if one is waiting. A signal that the kernel sent to the whole
  // process group (Ctrl-C, Ctrl-Z, hang-up) has reached the program already and is left out.
  std::optional<int> next() const;

 private:
  SignalRelay() = default;
  process::Fd fd_;
  sigset_t old_{};
  bool active_ = false;
};

}  // namespace aasm::launcher
