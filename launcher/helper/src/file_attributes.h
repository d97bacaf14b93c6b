#pragma once

#include "aasm/wire/broker_file.h"

namespace aasm::helper {

// Makes the call, one that changes_attributes(), on what `target` is a descriptor of; -1: there is
// nothing. `payload` has file.second_size bytes. A result or a negative errno.
long change_attributes(const wire::BrokerFile& file, const char* payload, int target);

}  // namespace aasm::helper
