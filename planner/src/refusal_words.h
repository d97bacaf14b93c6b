#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/planner/refusal.h"

namespace aasm::planner {

// Outside text made safe for a terminal, plain and in quotes.
std::string displayed(std::string_view text);
std::string quoted_display(std::string_view text);

// The path of the policy, or "the policy".
std::string source_name(const PolicyView& policy);

// "/etc/p.yaml:7:5", as far as it is known.
std::string source_place(const PolicyView& policy, std::optional<std::int64_t> line,
                         std::optional<std::int64_t> column);

}  // namespace aasm::planner
