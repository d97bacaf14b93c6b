#pragma once

#include <chrono>
#include <optional>

#include "aasm/process/fd.h"
#include "aasm/schema/record_run.h"
#include "aasm/schema/result.h"

#include "helper_client.h"

namespace aasm::backend_native {

// process.exited as the warden reported the end of the program, without its cause. No `exit`: the
// warden took the status with it, and what was left of the tree was killed.
schema::ProcessExited describe_end(const std::optional<ChildExit>& exit,
                                   std::chrono::steady_clock::time_point started,
                                   std::int64_t descendants_killed);

// What tells the session of an end. It is there before the program is: a program that cannot be
// watched is not started.
struct EndWatch {
  process::Fd terminated;  // eventfd
  process::Fd ended;       // epoll over it and what is added

  static schema::Result<EndWatch> open();
  schema::Result<void> add(int fd) const;
  // Makes `ended` readable.
  void terminate() const;
};

// Why the end of a run is not known. No `error`: the warden lives and has not told it.
schema::Error lost_warden(const std::optional<schema::Error>& error);

}  // namespace aasm::backend_native
