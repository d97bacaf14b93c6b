#include "aasm/schema/record_boundary.h"

namespace aasm::schema {
namespace {

Result<void> check_parts(std::int64_t part, std::int64_t parts) {
  if (part < 1 || parts < 1) {
    return Error(ErrorCode::kMalformed, "parts count from 1");
  }
  if (part > parts) {
    return Error(ErrorCode::kMalformed, "a part past the last");
  }
  return {};
}

}  // namespace

Result<void> ControlPrepared::check() const {
  AASM_TRY(check_parts(part, parts));
  for (const Control& control : controls) {
    if (control.installed && control.os_errno != 0) {
      return Error(ErrorCode::kMalformed, "an installed control with an errno");
    }
  }
  return {};
}

Result<void> BoundaryProved::check() const {
  return check_parts(part, parts);
}

}  // namespace aasm::schema
