#include "socket_place.h"

#include "sys.h"

namespace aasm::helper {

long make_sockets_below(int directory) {
  // The same numbers on every machine.
  constexpr long kCreateRuleset = 444;
  constexpr long kAddRule = 445;
  constexpr long kRestrictSelf = 446;
  constexpr long kPathBeneath = 1;
  constexpr uint64_t kMakeSocket = 1ULL << 9;
  const uint64_t handled = kMakeSocket;  // struct landlock_ruleset_attr of the first version
  const long ruleset = raw_call(kCreateRuleset, address(&handled), sizeof(handled), 0);
  if (ruleset < 0) {
    return ruleset;
  }
  const struct __attribute__((packed)) {
    uint64_t allowed;
    int32_t parent;
  } below = {kMakeSocket, directory};
  long result = raw_call(kAddRule, ruleset, kPathBeneath, address(&below), 0);
  if (result >= 0) {
    result = raw_call(kRestrictSelf, ruleset, 0);
  }
  close_fd(static_cast<int>(ruleset));
  return result;
}

}  // namespace aasm::helper
