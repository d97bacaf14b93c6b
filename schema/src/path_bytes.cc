#include "aasm/schema/path_bytes.h"

#include "aasm/schema/base64.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/utf8.h"

namespace aasm::schema {
namespace {

constexpr std::string_view kBase64Key = "b64";

}  // namespace

std::string PathBytes::display() const {
  return escape_for_display(bytes_);
}

JsonValue PathBytes::to_json() const {
  if (is_valid_utf8(bytes_)) {
    return bytes_;
  }
  return JsonValue::Object{{std::string(kBase64Key), to_base64(as_bytes(bytes_))}};
}

Result<PathBytes> PathBytes::from_json(const JsonValue& value) {
  if (const std::string* text = value.as_string()) {
    // A value built in this program, unlike one that was parsed, may hold any bytes.
    if (!is_valid_utf8(*text)) {
      return Error(ErrorCode::kMalformed, "path bytes: string is not UTF-8");
    }
    return PathBytes(*text);
  }
  const JsonValue::Object* object = value.as_object();
  if (object == nullptr) {
    return Error(ErrorCode::kMalformed, "path bytes: expected a string or {\"b64\":...}, got " +
                                            std::string(value.type_name()));
  }
  if (object->size() != 1 || object->front().first != kBase64Key) {
    return Error(ErrorCode::kMalformed, "path bytes: expected the one member \"b64\"");
  }
  const std::string* encoded = object->front().second.as_string();
  if (encoded == nullptr) {
    return Error(ErrorCode::kMalformed, "path bytes: \"b64\" is not a string");
  }
  const Bytes decoded = AASM_TRY_CONTEXT(from_base64(*encoded), "path bytes");
  std::string bytes(as_text(decoded));
  if (is_valid_utf8(bytes)) {
    return Error(ErrorCode::kMalformed, "path bytes: \"b64\" holds UTF-8, which is written plain");
  }
  return PathBytes(std::move(bytes));
}

}  // namespace aasm::schema
