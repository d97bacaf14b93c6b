#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aasm::backend_native {

// The places at which a mount shows something that lies below `path`, by the text of
// /proc/self/mountinfo (proc_pid_mountinfo(5)). What is shown there has no way of directories that
// leads back to `path`. Lines that are none are passed over.
std::vector<std::string> mounts_from_below(std::string_view mountinfo, std::string_view path);

}  // namespace aasm::backend_native
