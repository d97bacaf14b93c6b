#include "broker_rights.h"

#include <unistd.h>

#include <cerrno>

#include "own_capabilities.h"

namespace aasm::backend_native {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

BrokerRights::BrokerRights(pid_t broker) {
  const Result<CapabilitySets> sets = own_capabilities();
  if (::geteuid() == 0 || !sets || sets->permitted != 0) {
    const Result<CallerStatus> status = read_caller_status(broker);
    own_ = status ? status->credentials : BrokerCredentials{};
  }
}

Result<void> BrokerRights::give(const CallerStatus& caller, BrokerOrder* order) const {
  if (!own_ || (caller.credentials == *own_ && caller.plain)) {
    return {};
  }
  if (!caller.plain || caller.credentials.groups.size() > wire::kMaxBrokerGroups) {
    return Error(ErrorCode::kUnsupported, "credentials that the broker cannot take", EPERM);
  }
  order->credentials = caller.credentials;
  order->flags |= wire::kBrokerOwnThread;
  return {};
}

}  // namespace aasm::backend_native
