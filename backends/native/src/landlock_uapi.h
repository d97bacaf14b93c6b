#pragma once

#include "aasm/process/landlock.h"

namespace aasm::backend_native {

namespace landlock = process::landlock;

}  // namespace aasm::backend_native
