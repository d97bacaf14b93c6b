#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/record_policy.h"
#include "aasm/schema/result.h"

#include "ipc_spec.h"
#include "network_spec.h"

// What a boundary that judges the network is made from besides the filter.
namespace aasm::backend_native {

// Of the requirements on network_egress and name_resolution, with the sockets of the host behind
// which names are looked up.
schema::Result<NetworkSpec> network_spec_of(const std::vector<schema::Requirement>& requirements);

// Of the requirement on ipc, with the sockets of the host that its rules name.
schema::Result<IpcSpec> ipc_spec_of(const std::vector<schema::Requirement>& requirements);

// The ruleset of the workload alone, inside that of the broker: no signal leaves it, so the broker
// is out of reach, and where egress is judged it binds and connects no TCP socket itself. That is
// the floor: a call that ran by mistake would come to nothing.
struct InnerRuleset {
  process::Fd fd;  // close-on-exec
  std::int64_t abi = 0;
  std::uint64_t handled_net = 0;
  std::uint64_t scoped = 0;
};
schema::Result<InnerRuleset> build_inner_ruleset(const NetworkSpec& spec, std::int64_t abi);

// A listener on loopback that a canary tries to reach. Without one (a host without IPv4) `fd` is
// empty.
struct CanaryListener {
  process::Fd fd;
  std::string address;  // struct sockaddr_in
};
CanaryListener open_canary_listener();

}  // namespace aasm::backend_native
