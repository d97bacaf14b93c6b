#include "aasm/schema/json_check.h"

#include <algorithm>

#include "json_profile.h"

namespace aasm::schema {
namespace {

Error outside(const char* what) {
  return Error(ErrorCode::kMalformed, std::string("json: ") + what);
}

class Check {
 public:
  explicit Check(JsonRoom room) : room_(room) {}

  Result<void> value(const JsonValue& json, std::size_t depth) {
    if (const std::int64_t* number = json.as_int()) {
      return *number >= -kJsonMaxInteger && *number <= kJsonMaxInteger
                 ? Result<void>()
                 : outside("integer past 2^53-1");
    }
    const JsonValue::Object* object = json.as_object();
    const JsonValue::Array* array = json.as_array();
    if (object == nullptr && array == nullptr) {
      return {};
    }
    if (depth == room_.depth) {
      return outside("too many levels");
    }
    const std::size_t more = object != nullptr ? object->size() : array->size();
    if (more > room_.members) {
      return outside("too many members");
    }
    room_.members -= more;
    return object != nullptr ? members(*object, depth + 1) : items(*array, depth + 1);
  }

 private:
  Result<void> members(const JsonValue::Object& object, std::size_t depth) {
    detail::KeySet keys;
    for (std::size_t i = 0; i < object.size(); ++i) {
      const std::string& key = object[i].first;
      if (key.empty() || !std::all_of(key.begin(), key.end(), detail::is_key_char)) {
        return outside("empty key, or one outside [A-Za-z0-9_.:/-]");
      }
      if (!keys.insert(object, i, key)) {
        return outside("duplicate key");
      }
      AASM_TRY(value(object[i].second, depth));
    }
    return {};
  }

  Result<void> items(const JsonValue::Array& array, std::size_t depth) {
    for (const JsonValue& item : array) {
      AASM_TRY(value(item, depth));
    }
    return {};
  }

  JsonRoom room_;
};

}  // namespace

Result<void> json_check(const JsonValue& value, JsonRoom room) {
  return Check(room).value(value, 0);
}

}  // namespace aasm::schema
