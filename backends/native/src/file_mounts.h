#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace aasm::backend_native {

// The places at which a mount shows something that lies below `path`, by the text of
// /proc/self/mountinfo (mountinfo.h). What is shown there has no way of directories that leads back
// to `path`.
std::vector<std::string> mounts_from_below(std::string_view mountinfo, std::string_view path);

}  // namespace aasm::backend_native
