#include "aasm/schema/json_value.h"

#include <array>

namespace aasm::schema {

const JsonValue* JsonValue::find(std::string_view key) const {
  const Object* object = as_object();
  if (object == nullptr) {
    return nullptr;
  }
  for (const Member& member : *object) {
    if (member.first == key) {
      return &member.second;
    }
  }
  return nullptr;
}

std::string_view JsonValue::type_name() const {
  // In the order of the alternatives of data_.
  constexpr std::array<std::string_view, 6> kNames = {"null",   "boolean", "integer",
                                                      "string", "array",   "object"};
  static_assert(std::variant_size_v<decltype(data_)> == kNames.size());
  return kNames.at(data_.index());
}

}  // namespace aasm::schema
