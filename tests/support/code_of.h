#pragma once

#include <optional>

#include "aasm/schema/error.h"
#include "aasm/schema/result.h"

namespace aasm::test {

// The code of the failure; empty for a success.
template <class T>
std::optional<schema::ErrorCode> code_of(const schema::Result<T>& result) {
  return result.has_value() ? std::nullopt : std::optional(result.error().code());
}

}  // namespace aasm::test
