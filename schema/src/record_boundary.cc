#include "aasm/schema/record_boundary.h"

namespace aasm::schema {
namespace {

Result<void> check_parts(std::int64_t part, std::int64_t parts) {
  if (part < 1 || parts < part) {
    return Error(ErrorCode::kMalformed, "a part outside 1..parts");
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
