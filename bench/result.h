#pragma once

#include <string>
#include <vector>

#include "aasm/schema/json_value.h"

namespace aasm::bench {

double median(std::vector<double> values);

// Which machine, which commit, when.
schema::JsonValue::Object circumstances();

}  // namespace aasm::bench
