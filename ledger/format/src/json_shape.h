#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "aasm/schema/json_value.h"

// Strict reading of JSON objects whose members are all required and all known.
namespace aasm::ledger_format::detail {

enum class ShapeFault : std::uint8_t { kNotAnObject, kUnknownMember, kMissingMember };

struct ShapeProblem {
  ShapeFault fault;
  std::string_view name;  // of the missing member; empty otherwise, since unknown names are
                          // bytes from outside
};

// nullopt when `value` is an object with exactly the members `names`.
std::optional<ShapeProblem> check_shape(const schema::JsonValue& value,
                                        std::span<const std::string_view> names);

// A sentence for it: "the statement lacks the member subject".
std::string describe(const ShapeProblem& problem, std::string_view what);

}  // namespace aasm::ledger_format::detail
