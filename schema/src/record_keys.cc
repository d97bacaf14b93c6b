#include "aasm/schema/record_keys.h"

namespace aasm::schema {
namespace {

Result<void> check_purpose(const std::string& purpose) {
  if (purpose != "host" && purpose != "log") {
    return Error(ErrorCode::kMalformed, "a key's purpose is host or log");
  }
  return {};
}

}  // namespace

Result<void> KeyRotated::check() const {
  AASM_TRY(check_purpose(purpose));
  if (old_signature.has_value() != (purpose == "log")) {
    return Error(ErrorCode::kMalformed, "the old key signs the body exactly when it is a log key");
  }
  return {};
}

Result<void> KeyReplaced::check() const {
  return check_purpose(certificate.purpose);
}

}  // namespace aasm::schema
