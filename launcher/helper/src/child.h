#pragma once

#include "frame.h"

namespace aasm::helper {

// Where the kernel is to store the child's pid, in the child's own memory (CLONE_CHILD_SETTID).
int* child_pid_slot();

// The launch child's whole life: controls, boundary, canaries, rendezvous, then the program
// (launch) or the end (probe).
[[noreturn]] void run_child(const Frame& frame, wire::StatusPage& page, int warden_pid);

}  // namespace aasm::helper
