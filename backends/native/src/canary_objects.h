#pragma once

#include <string>

#include "aasm/schema/result.h"

namespace aasm::backend_native {

// The objects that filesystem canaries try, all of them ours and without content that matters:
// `read` and `write` (mode 0600) and `exec` (0700) in `directory`. Made when missing, the directory
// too (0700). A symbolic link in their place is an error.
schema::Result<void> ensure_canary_objects(const std::string& directory);

std::string canary_read_path(const std::string& directory);
std::string canary_write_path(const std::string& directory);
std::string canary_exec_path(const std::string& directory);

}  // namespace aasm::backend_native
