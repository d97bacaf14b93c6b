#pragma once

#include <string>

#include "aasm/wire/status_page.h"

// What on a host makes a step fail, and what to do about it, for the messages of refusals. Inputs
// to words only, never to a verdict.
namespace aasm::backend_native {

// "step seccomp: Device or resource busy (...)"; the part in parentheses where the cause is known.
std::string step_failure_text(wire::Step step, int os_errno);

// Why the listener could not be taken from the launch child: "" or " (...)".
std::string listener_remedy(int os_errno);

// Why the kernel has no Landlock for us.
std::string landlock_remedy(int os_errno);

}  // namespace aasm::backend_native
