#pragma once

#include <string>
#include <string_view>

namespace aasm::backend_native {

// Calls `remove` with the path of each entry of `folder` that is named `prefix` and the number of a
// process that is no more: what a supervisor made that could not take it away itself. Errors are
// passed over.
void remove_left_behind(const std::string& folder, std::string_view prefix,
                        int (*remove)(const char* path));

}  // namespace aasm::backend_native
