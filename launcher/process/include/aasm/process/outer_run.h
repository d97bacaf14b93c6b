#pragma once

namespace aasm::process {

// Whether this process seems to be inside the boundary of a run of aasm: it is under a seccomp
// filter with no_new_privs, and a process above it is named as wardens are. Good for a message and
// for nothing else: anybody can give a process that name, and where /proc is out of reach the
// answer is no.
bool seems_inside_a_run();

}  // namespace aasm::process
