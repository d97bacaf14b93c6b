#pragma once

#include "broker_call.h"

namespace aasm::helper {

// Whether names and descriptors of a request of kind kFile are what its sections say.
bool check_file_call(const BrokerCall& call);

// Makes the call and answers it. False: it may have to wait, and `may_wait` does not hold; nothing
// has been done or answered then.
bool make_file_call(BrokerCall& call, bool may_wait);

}  // namespace aasm::helper
