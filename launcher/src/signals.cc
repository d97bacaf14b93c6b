#include "signals.h"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace aasm::launcher {
namespace {

constexpr std::array kRelayed = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1, SIGUSR2,
                                 SIGALRM, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT};

}  // namespace

schema::Result<SignalRelay> SignalRelay::create() {
  sigset_t set{};
  sigemptyset(&set);
  for (const int signal : kRelayed) {
    sigaddset(&set, signal);
  }
  SignalRelay relay;
  if (const int code = pthread_sigmask(SIG_BLOCK, &set, &relay.old_); code != 0) {
    return schema::Error(schema::ErrorCode::kInternal, "blocking signals to relay", code);
  }
  relay.active_ = true;
  relay.fd_ = process::Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (relay.fd_.get() < 0) {
    return schema::Error(schema::ErrorCode::kResourceExhausted, "signalfd", errno);
  }
  return relay;
}

SignalRelay::SignalRelay(SignalRelay&& other) noexcept
    : fd_(std::move(other.fd_)), old_(other.old_), active_(std::exchange(other.active_, false)) {}

SignalRelay::~SignalRelay() {
  if (active_) {
    pthread_sigmask(SIG_SETMASK, &old_, nullptr);
  }
}

std::uint64_t SignalRelay::caller_mask() const {
  std::uint64_t mask = 0;
  for (int signal = 1; signal <= 64; ++signal) {
    if (sigismember(&old_, signal) == 1) {
      mask |= std::uint64_t{1} << (signal - 1);
    }
  }
  return mask;
}

// SIGCONT takes a stop signal that is pending with it. So the order is: make it pending, look at
// the program, let it come. Whoever continues the program after the look wakes us: the warden sees
// to it.
bool SignalRelay::stop_with(int signal, const std::function<bool()>& program_is_stopped) const {
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigset_t continued{};
  sigemptyset(&continued);
  sigaddset(&continued, SIGCONT);
  const timespec at_once{};
  sigtimedwait(&continued, nullptr, &at_once);  // of an earlier stop
  if (signal == SIGSTOP) {
    if (program_is_stopped()) {
      raise(SIGSTOP);
    }
  } else {
    raise(signal);
    if (program_is_stopped()) {
      pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
      pthread_sigmask(SIG_BLOCK, &only, nullptr);
    }
    sigtimedwait(&only, nullptr, &at_once);
  }
  return sigtimedwait(&continued, nullptr, &at_once) == SIGCONT;
}

std::optional<int> SignalRelay::next() const {
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const bool from_a_process = info.ssi_code <= 0;
    if (from_a_process) {
      return static_cast<int>(info.ssi_signo);
    }
  }
  return std::nullopt;
}

}  // namespace aasm::launcher
