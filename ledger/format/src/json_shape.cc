#include "json_shape.h"

#include <algorithm>

namespace aasm::ledger_format::detail {

std::optional<ShapeProblem> check_shape(const schema::JsonValue& value,
                                        std::span<const std::string_view> names) {
  const schema::JsonValue::Object* object = value.as_object();
  if (object == nullptr) {
    return ShapeProblem{ShapeFault::kNotAnObject, {}};
  }
  for (const schema::JsonValue::Member& member : *object) {
    if (std::find(names.begin(), names.end(), member.first) == names.end()) {
      return ShapeProblem{ShapeFault::kUnknownMember, {}};
    }
  }
  for (const std::string_view name : names) {
    if (value.find(name) == nullptr) {
      return ShapeProblem{ShapeFault::kMissingMember, name};
    }
  }
  return std::nullopt;
}

std::string describe(const ShapeProblem& problem, std::string_view what) {
  switch (problem.fault) {
    case ShapeFault::kNotAnObject:
      return std::string(what) + " is no object";
    case ShapeFault::kUnknownMember:
      return std::string(what) + " has an unknown member";
    case ShapeFault::kMissingMember:
      return std::string(what) + " lacks the member " + std::string(problem.name);
  }
  return {};
}

}  // namespace aasm::ledger_format::detail
