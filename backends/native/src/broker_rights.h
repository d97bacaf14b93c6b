#pragma once

#include <sys/types.h>

#include <optional>

#include "aasm/schema/result.h"

#include "broker_client.h"
#include "caller_state.h"

namespace aasm::backend_native {

// Whose rights brokered calls are made with: the broker's own, but where callers may have others.
class BrokerRights {
 public:
  explicit BrokerRights(pid_t broker);

  // Without capabilities, and under no_new_privs, a caller cannot have become anybody else.
  bool may_differ() const { return own_.has_value(); }

  // Adds to the order the rights of a caller that has others than the broker. kUnsupported (EPERM):
  // the broker cannot take them.
  schema::Result<void> give(const CallerStatus& caller, BrokerOrder* order) const;

 private:
  std::optional<BrokerCredentials> own_;
};

}  // namespace aasm::backend_native
