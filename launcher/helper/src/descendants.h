#pragma once

#include "sys.h"

namespace aasm::helper {

// Opens /proc and the list of our own children. Fails also when /proc shows another PID namespace
// than ours (ESTALE): its numbers would name strangers.
long open_process_list(int& proc_fd, int& children_fd);

// Sends SIGKILL to every descendant that proc(5) lists now, nearest first; to `last` only when it
// is the only one. Children are found even when nothing below can be read. Returns 0, or a negative
// errno when our own list is unreadable.
long kill_descendants(int proc_fd, int children_fd, int32_t last);

void sort_ascending(int32_t* list, uint32_t count);

}  // namespace aasm::helper
