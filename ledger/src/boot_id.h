#pragma once

#include <string>

#include "aasm/schema/result.h"

namespace aasm::ledger {

// The kernel's id of this boot, /proc/sys/kernel/random/boot_id without its newline.
schema::Result<std::string> read_boot_id();

}  // namespace aasm::ledger
