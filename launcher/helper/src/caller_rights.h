#pragma once

#include "broker_call.h"

namespace aasm::helper {

// What of the caller the request says this thread takes on: ids, groups, capabilities, directory
// and umask, and where it may make sockets. 0 or a negative errno: then the call is not to be made.
long become_caller(const BrokerCall& call);

}  // namespace aasm::helper
