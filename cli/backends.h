#pragma once

#include <memory>
#include <vector>

#include "aasm/planner/backend.h"

namespace aasm::cli {

// Every backend of this build, in the order in which `auto` considers them. Adding one is one line.
std::vector<std::unique_ptr<planner::Backend>> make_backends();

}  // namespace aasm::cli
