#pragma once

#include <array>

namespace aasm::planner {

// What `resources` of a policy may limit.
inline constexpr std::array kLimitNames = {"memory_bytes", "cpu_seconds", "wall_clock_seconds",
                                           "open_files", "file_size_bytes"};

}  // namespace aasm::planner
