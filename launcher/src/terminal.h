#pragma once

#include <sys/types.h>
#include <termios.h>

namespace aasm::launcher {

// Remembers who owns the controlling terminal and how it is set, and puts that back: what a shell
// does for its jobs (termios(3), tcsetpgrp(3)). Without a terminal it does nothing.
class TerminalState {
 public:
  TerminalState();
  ~TerminalState() = default;
  TerminalState(const TerminalState&) = delete;
  TerminalState& operator=(const TerminalState&) = delete;

  // The program has stopped, and we are about to: remembers whether a process group of its own had
  // the terminal. After the stop, resume() hands the terminal on to it, if we got it.
  void pause();
  void resume() const;

  // Gives the terminal back to our process group when we had it, and, after a program that a
  // signal ended, restores the modes it may have left behind.
  void restore(bool ended_by_signal) const;

 private:
  int fd_ = -1;  // 0, 1 or 2, whichever is a terminal
  pid_t owner_ = -1;
  pid_t program_ = -1;  // process group, between pause() and resume()
  termios modes_{};
};

}  // namespace aasm::launcher
