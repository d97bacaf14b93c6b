#include "program_end.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

namespace aasm::backend_native {

schema::ProcessExited describe_end(const std::optional<ChildExit>& exit,
                                   std::chrono::steady_clock::time_point started,
                                   std::int64_t descendants_killed) {
  using std::chrono::microseconds;
  schema::ProcessExited exited;
  exited.descendants_killed = descendants_killed;
  exited.use.wall_us =
      std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - started).count();
  if (!exit) {
    exited.signal = SIGKILL;
    return exited;
  }
  if (WIFEXITED(exit->wait_status)) {
    exited.status = WEXITSTATUS(exit->wait_status);
  } else {
    exited.signal = WTERMSIG(exit->wait_status);
  }
  exited.use.user_us = exit->user_us;
  exited.use.system_us = exit->system_us;
  exited.use.max_rss_kib = exit->max_rss_kib;
  return exited;
}

schema::Result<EndWatch> EndWatch::open() {
  EndWatch watch;
  watch.terminated.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  watch.ended.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!watch.terminated || !watch.ended) {
    return process::system_error("watching the program", errno);
  }
  AASM_TRY(watch.add(watch.terminated.get()));
  return watch;
}

schema::Result<void> EndWatch::add(int fd) const {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(ended.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return process::system_error("watching the program", errno);
  }
  return {};
}

void EndWatch::terminate() const {
  // An eventfd that is never read is far from full, so this cannot fail.
  [[maybe_unused]] const int told = ::eventfd_write(terminated.get(), 1);
}

schema::Error lost_warden(const std::optional<schema::Error>& error) {
  return error ? schema::Error(error->code(), "the warden failed: " + error->message(),
                               error->os_errno())
               : schema::Error(schema::ErrorCode::kUnavailable,
                               "the warden failed: it did not tell how the program ended");
}

}  // namespace aasm::backend_native
