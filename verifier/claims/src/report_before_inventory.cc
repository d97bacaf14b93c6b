#include <string_view>

#include "aasm/claims/report.h"

#include "text.h"

namespace aasm::claims {
namespace {

using schema::JsonValue;

JsonValue* member(JsonValue* object, std::string_view name) {
  if (object == nullptr || object->as_object() == nullptr) {
    return nullptr;
  }
  for (JsonValue::Member& one : *object->as_object()) {
    if (one.first == name) {
      return &one.second;
    }
  }
  return nullptr;
}

void erase(JsonValue* object, std::string_view name) {
  if (object != nullptr && object->as_object() != nullptr) {
    std::erase_if(*object->as_object(), [name](const auto& one) { return one.first == name; });
  }
}

}  // namespace

JsonValue as_before_inventory(JsonValue report) {
  if (JsonValue* domains = member(&report, "domains"); domains != nullptr && domains->as_array()) {
    for (JsonValue& domain : *domains->as_array()) {
      erase(&domain, "denials");
      erase(&domain, "denials_ungrouped");
    }
  }
  erase(member(&report, "policy"), "source");
  for (const char* name : {"exit_status", "exit_signal"}) {
    erase(member(&report, "run"), name);
  }
  JsonValue* authority = member(&report, "authority");
  JsonValue* reasons = member(authority, "reasons");
  if (reasons != nullptr && reasons->as_array() != nullptr) {
    std::erase(*reasons->as_array(), JsonValue(std::string(kNoInventoryReason)));
    *member(authority, "least_authority") = JsonValue(reasons->as_array()->empty());
  }
  return report;
}

}  // namespace aasm::claims
