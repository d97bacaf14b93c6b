#include "aasm/process/pidfd.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace aasm::process {

using schema::Result;

Result<Fd> pidfd_open(pid_t pid) {
  // The kernel makes every pidfd close-on-exec.
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) {
    return system_error("pidfd_open", errno);
  }
  return fd;
}

Result<Fd> pidfd_getfd(BorrowedFd pidfd, int number) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.get(), number, 0)));
  if (!fd) {
    return system_error("pidfd_getfd", errno);
  }
  return fd;
}

Result<void> send_signal(BorrowedFd pidfd, int signal) {
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0) != 0) {
    return system_error("pidfd_send_signal", errno);
  }
  return {};
}

Result<bool> wait_readable(BorrowedFd fd, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry = {fd.get(), POLLIN, 0};
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000)));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 && Clock::now() >= deadline) {
      return false;
    }
    if (ready < 0 && errno != EINTR) {
      return system_error("poll", errno);
    }
  }
}

Result<bool> wait_ended(BorrowedFd pidfd, std::chrono::milliseconds timeout) {
  return wait_readable(pidfd, timeout);
}

}  // namespace aasm::process
