#include "terminal.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <initializer_list>

namespace aasm::launcher {

TerminalState::TerminalState() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (isatty(fd) != 0 && tcgetattr(fd, &modes_) == 0) {
      fd_ = fd;
      owner_ = tcgetpgrp(fd);
      return;
    }
  }
}

void TerminalState::pause() {
  const pid_t now = fd_ < 0 ? -1 : tcgetpgrp(fd_);
  program_ = now > 0 && now != getpgrp() && owner_ == getpgrp() ? now : -1;
}

// SIGTTOU is blocked while a program is supervised, so this changes the terminal and stops nobody.
void TerminalState::resume() const {
  if (program_ > 0 && tcgetpgrp(fd_) == getpgrp()) {
    tcsetpgrp(fd_, program_);
  }
}

void TerminalState::restore(bool ended_by_signal) const {
  if (fd_ < 0 || owner_ != getpgrp()) {
    return;
  }
  // A background process that changes the terminal is stopped by SIGTTOU unless it blocks it.
  sigset_t block{};
  sigset_t old{};
  sigemptyset(&block);
  sigaddset(&block, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &block, &old);
  if (tcgetpgrp(fd_) != owner_) {
    tcsetpgrp(fd_, owner_);
  }
  if (ended_by_signal) {
    tcsetattr(fd_, TCSADRAIN, &modes_);
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

}  // namespace aasm::launcher
