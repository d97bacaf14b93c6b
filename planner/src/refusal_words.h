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

// The path of the document that a rule or node of this id stands in; empty when there is none.
const std::string& source_of(const PolicyView& policy, std::string_view id);

// "/etc/p.yaml:7:5", as far as it is known.
std::string source_place(const std::string& source, std::optional<std::int64_t> line,
                         std::optional<std::int64_t> column);

}  // namespace aasm::planner
