#pragma once

#include <string>

#include "aasm/schema/record_policy.h"

namespace aasm::claims {

// One requirement on one line: "intent=..., posture=..., descendants=..., scope=...". The scope is
// `whole_domain`, `selectors[n]: ...` with the first sixteen, or `limits: name=value ...`.
std::string requested_text(const schema::Requirement& requirement);

}  // namespace aasm::claims
