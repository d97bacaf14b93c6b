#pragma once

#include "report.h"

namespace aasm::helper {

// Whether exec_path still is the file that the supervisor hashed: same device, inode, size and
// ctime. ESTALE when it is another one.
Outcome check_target(const Frame& frame);

// Becomes the program. Returns only when that failed, with a negative errno.
long execute(const Frame& frame);

}  // namespace aasm::helper
