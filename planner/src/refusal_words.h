#pragma once

#include <string>
#include <string_view>

#include "aasm/planner/refusal.h"

namespace aasm::planner {

// Outside text made safe for a terminal, plain and in quotes.
std::string displayed(std::string_view text);
std::string quoted_display(std::string_view text);

// The path of the policy, or "the policy".
std::string source_name(const PolicyView& policy);

}  // namespace aasm::planner
