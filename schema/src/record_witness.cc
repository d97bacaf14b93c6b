#include "aasm/schema/record_witness.h"

namespace aasm::schema {
namespace {

Error invalid(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

}  // namespace

Result<void> WitnessedDenial::check() const {
  if (blockers.empty() || count < 1) {
    return invalid("a denial names what was missing, and counts from 1");
  }
  return {};
}

Result<void> WitnessReported::check() const {
  if ((state == WitnessState::kUnavailable) == reason.empty()) {
    return invalid("a witness that is unavailable, and no other, has a reason");
  }
  if (before_start < 0 || heard < 0 || lost < 0 || overruns < 0 || unlisted < 0 ||
      counted.value_or(0) < 0) {
    return invalid("a negative count");
  }
  if (state == WitnessState::kHeard && (before_start < 1 || domains.empty())) {
    return invalid("a witness is heard when it told of a refusal before the start");
  }
  // Subtracting cannot overflow: what is left is never negative.
  std::int64_t left = heard - unlisted;
  for (const WitnessedDenial& denial : denials) {
    if (left < denial.count) {
      return invalid("more denials listed than heard");
    }
    left -= denial.count;
  }
  return left == 0 ? Result<void>() : invalid("fewer denials listed than heard");
}

}  // namespace aasm::schema
