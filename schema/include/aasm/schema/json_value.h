#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace aasm::schema {

// A JSON value of the payload profile `aasm-json-1` (docs/spec/ledger-format.md section 2):
// integers only, |n| <= 2^53-1; real numbers do not exist here. Value semantics; not
// thread-safe beyond what const access gives. Depth is bounded by the parser, never here.
class JsonValue {
 public:
  using Array = std::vector<JsonValue>;
  // Members in the order they were added; json_write() sorts, json_parse() has refused duplicates.
  using Member = std::pair<std::string, JsonValue>;
  using Object = std::vector<Member>;

  JsonValue() = default;  // null
  // NOLINTBEGIN(google-explicit-constructor): literals read well as values.
  JsonValue(bool value) : data_(value) {}
  JsonValue(std::int64_t value) : data_(value) {}
  JsonValue(std::string value) : data_(std::move(value)) {}
  JsonValue(const char* value) : data_(std::string(value)) {}
  JsonValue(std::string_view value) : data_(std::string(value)) {}
  JsonValue(Array value) : data_(std::move(value)) {}
  JsonValue(Object value) : data_(std::move(value)) {}
  // NOLINTEND(google-explicit-constructor)

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const Array* as_array() const { return std::get_if<Array>(&data_); }
  const Object* as_object() const { return std::get_if<Object>(&data_); }
  Array* as_array() { return std::get_if<Array>(&data_); }
  Object* as_object() { return std::get_if<Object>(&data_); }

  // The member called `key`, or nullptr when this is no object or has none.
  const JsonValue* find(std::string_view key) const;

  // "null", "boolean", "integer", "string", "array" or "object": for messages.
  std::string_view type_name() const;

  bool operator==(const JsonValue&) const = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, std::string, Array, Object> data_;
};

inline constexpr std::int64_t kJsonMaxInteger = 9007199254740991;  // 2^53-1

}  // namespace aasm::schema
