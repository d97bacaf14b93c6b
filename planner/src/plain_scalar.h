#pragma once

#include <string_view>

namespace aasm::planner {

// What the core schema of YAML 1.2 (section 10.3.2) reads in an unquoted scalar that is neither
// empty nor null: "a number", "a boolean", or nullptr for text.
const char* type_of_plain(std::string_view text);

}  // namespace aasm::planner
