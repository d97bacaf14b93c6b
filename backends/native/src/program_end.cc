#include "program_end.h"

#include <sys/wait.h>

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

schema::Error lost_warden(const std::optional<schema::Error>& error) {
  return error ? schema::Error(error->code(), "the warden failed: " + error->message(),
                               error->os_errno())
               : schema::Error(schema::ErrorCode::kUnavailable,
                               "the warden failed: it did not tell how the program ended");
}

}  // namespace aasm::backend_native
