#include "aasm/schema/fields.h"

#include <charconv>

namespace aasm::schema::detail {

Result<void> decimal_from_json(const JsonValue& json, std::uint64_t& out) {
  const std::string* text = json.as_string();
  if (text == nullptr) {
    return wrong_type("a decimal string", json);
  }
  const char* end = text->data() + text->size();
  const auto [at, code] = std::from_chars(text->data(), end, out);
  if (code != std::errc() || at != end || *text != std::to_string(out)) {
    return Error(ErrorCode::kMalformed, "not a decimal number of 64 bits");
  }
  return {};
}

}  // namespace aasm::schema::detail
