#pragma once

#include <optional>
#include <string_view>

#include "aasm/planner/yaml_tree.h"

namespace aasm::planner {

// Looks at the bytes of a document before any YAML parser does: yaml-cpp 0.7 accepts byte order
// marks, UTF-16 and bad UTF-8 without a word. The first fault, or nothing.
std::optional<Problem> prescan_yaml(std::string_view bytes);

}  // namespace aasm::planner
