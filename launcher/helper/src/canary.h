#pragma once

#include "frame.h"

namespace aasm::helper {

enum class Half { kControl, kInside };

// The pids a script argument can name.
struct ScriptPids {
  long own;
  long warden;
};

// Makes the calls of one half of the script (aasm/wire/script.h) and stores what each returned.
void run_script(const Frame& frame, wire::StatusPage& page, Half half, ScriptPids pids);

}  // namespace aasm::helper
