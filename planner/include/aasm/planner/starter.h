#pragma once

#include <functional>
#include <string>

namespace aasm::planner {

// Whether a path is there on this machine.
using PathExists = std::function<bool(const std::string&)>;

// stat(2).
bool path_exists(const std::string& path);

// The policy that `aasm init` writes: reads and executes the system's programs and libraries and
// the working directory, writes the working directory, makes the calls of @default, and gets seven
// environment variables. Only paths that exist are granted; what is left out on purpose stands as
// a comment with the reason. Loads without a problem on the machine it was written for.
std::string starter_policy(const PathExists& exists);

}  // namespace aasm::planner
