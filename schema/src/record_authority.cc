#include "aasm/schema/record_authority.h"

#include <algorithm>

namespace aasm::schema {
namespace {

Error invalid(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

}  // namespace

Result<void> AmbientAuthority::check() const {
  const auto counts = {removed, delegated, ambient_unremoved, sensitive_unlisted,
                       descriptors_unlisted};
  if (std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 0; })) {
    return invalid("a negative count of ambient authority");
  }
  const bool rising =
      std::is_sorted(descriptors.begin(), descriptors.end(),
                     [](const auto& a, const auto& b) { return a.number <= b.number; });
  if (!rising || (!descriptors.empty() && descriptors.front().number < 0)) {
    return invalid("inherited descriptors are not ascending");
  }
  if (!descriptors_listed && (!descriptors.empty() || descriptors_unlisted != 0)) {
    return invalid("descriptors of an inventory that was not taken");
  }
  return {};
}

}  // namespace aasm::schema
