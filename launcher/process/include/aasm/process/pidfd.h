#pragma once

#include <sys/types.h>

#include <chrono>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

// Processes by descriptor: the number behind a pidfd is never reused (pidfd_open(2)).
namespace aasm::process {

// kNotFound when there is no such process. Safe only while the caller knows that `pid` cannot have
// been reaped and reused: a child that nobody has waited for.
schema::Result<Fd> pidfd_open(pid_t pid);

// A copy of the descriptor `number` of the process; close-on-exec. Needs ptrace access to it.
schema::Result<Fd> pidfd_getfd(BorrowedFd pidfd, int number);

// kNotFound (ESRCH) when the process has been reaped.
schema::Result<void> send_signal(BorrowedFd pidfd, int signal);

// Whether the process has ended, waiting at most `timeout` for it. Does not reap.
schema::Result<bool> wait_ended(BorrowedFd pidfd, std::chrono::milliseconds timeout);

// poll(2) for reading until the deadline, whatever signals arrive; true when readable or hung up.
schema::Result<bool> wait_readable(BorrowedFd fd, std::chrono::milliseconds timeout);

}  // namespace aasm::process
