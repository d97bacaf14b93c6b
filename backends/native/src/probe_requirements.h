#pragma once

#include <cstdint>
#include <vector>

#include "aasm/schema/record_policy.h"

namespace aasm::backend_native {

// A policy that states every supported domain and grants nothing but the default calls.
std::vector<schema::Requirement> probe_requirements(std::int64_t abi);

}  // namespace aasm::backend_native
