#pragma once

#include "report.h"

namespace aasm::helper {

// The warden's own descriptors.
struct Warden {
  int socket_fd;    // to the supervisor
  int signal_fd;    // SIGCHLD
  int proc_fd;      // /proc
  int children_fd;  // the list of our own children
  int child_pid;    // the launch child, 0 once its end was reported
  long supervisor_pid;
  const int* broker_pid;  // on the status page; 0 while there is none
};

// Before the clone: becomes a subreaper, so that every orphan of the tree is a child of ours, and
// opens what is needed to find and end descendants. All signals are blocked already.
Outcome prepare_warden(const Frame& frame, Warden& warden);

// After the clone, in the parent: reports the child, then waits for its end, for the order to kill
// the tree and for the supervisor's death. Holds no descriptor but its own.
[[noreturn]] void run_warden(Warden& warden, int child_pidfd);

}  // namespace aasm::helper
