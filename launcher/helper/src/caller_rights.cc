#include "caller_rights.h"

#include <linux/capability.h>
#include <linux/prctl.h>

#include "socket_place.h"

namespace aasm::helper {

namespace {

const uint32_t* groups_of(const BrokerCall& call) {
  // SAFETY: the payload begins behind a header of 72 bytes that is aligned to eight.
  return reinterpret_cast<const uint32_t*>(call.payload);
}
long take_capabilities(uint64_t wanted) {
  const uint32_t head[2] = {_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = static_cast<uint32_t>(wanted);
  const auto high = static_cast<uint32_t>(wanted >> 32);
  const uint32_t sets[6] = {low, low, 0, high, high, 0};
  return raw_call(__NR_capset, address(head), address(sets));
}

// This thread becomes as the caller. Whatever of it is refused, the call is not made.
long take_credentials(const BrokerCall& call) {
  const auto& wanted = call.request;
  long result = raw_call(__NR_setgroups, wanted.num_groups, address(groups_of(call)));
  if (result >= 0) {
    result = raw_call(__NR_setresgid, wanted.gid, wanted.gid, wanted.gid);
  }
  if (result >= 0 && wanted.capabilities != 0) {
    result = process_control(PR_SET_KEEPCAPS, 1);
  }
  if (result >= 0) {
    result = raw_call(__NR_setresuid, wanted.uid, wanted.uid, wanted.uid);
  }
  return result < 0 ? result : take_capabilities(wanted.capabilities);
}

}  // namespace

long become_caller(const BrokerCall& call) {
  if (has(call, wire::kBrokerCredentials)) {
    const long result = take_credentials(call);
    if (result < 0) {
      return result;
    }
  }
  if (has(call, wire::kBrokerDirectory)) {
    raw_call(__NR_umask, call.request.mode_mask);
    const long result = raw_call(__NR_fchdir, call.fds[1]);
    if (result < 0) {
      return result;
    }
  }
  return has(call, wire::kBrokerBelow) ? make_sockets_below(call.fds[call.num_fds - 1]) : 0;
}

}  // namespace aasm::helper
