#pragma once

#include <string>

#include "aasm/schema/error.h"
#include "aasm/schema/record_policy.h"

namespace aasm::backend_native {

// Of a rule that this backend cannot carry out: kUnsupported.
inline schema::Error obstacle(const schema::PolicyRule& rule, const std::string& why) {
  return schema::Error(schema::ErrorCode::kUnsupported, "rule " + rule.id + ": " + why);
}

}  // namespace aasm::backend_native
