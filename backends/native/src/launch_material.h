#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/process/digest_cache.h"
#include "aasm/process/exec_target.h"
#include "aasm/process/fd.h"
#include "aasm/schema/record_boundary.h"

#include "canary.h"
#include "channel.h"
#include "filter_spec.h"
#include "helper_client.h"
#include "ipc_canary.h"
#include "memory_group.h"
#include "network_setup.h"
#include "own_capabilities.h"
#include "phase.h"
#include "process_limits.h"
#include "ruleset.h"

namespace aasm::backend_native {

// Everything of one launch that exists before a process does: what was opened, hashed and computed
// from the policy. Owned by the execution it is for, until the program has started.
struct LaunchMaterial {
  planner::LaunchRequest request;  // spec.requirements reduced to what is installed
  Ruleset ruleset;
  FilterSpec filter;
  std::vector<sock_filter> program;
  process::ExecTarget target;
  process::DigestCache digests;
  std::vector<schema::PreparedImage> images;
  CapabilitySets capabilities;
  std::optional<CapabilityCut> cut;
  process::Fd canary_descriptor;  // open in the helper, not passed on
  process::Fd working_dir;
  CanaryPlan canaries;
  std::optional<InnerRuleset> inner_ruleset;  // where there is a broker
  CanaryListener canary_listener;
  IpcCanaryObjects ipc_objects;
  std::vector<ProcessLimit> limits;
  MemoryGroup memory;  // where policy limits it and the host lets it be limited
};

// Opens every grant once, finds and hashes the program with its interpreters, builds ruleset,
// filter and canary script. Errors: what cannot be opened or does not exist, with its errno;
// kUnsupported when the kernel has no Landlock or a filesystem domain is not stated.
schema::Result<LaunchMaterial> gather_material(const planner::LaunchRequest& request);

// What the helper is told. Borrows the descriptors of `material`.
HelperSpec launch_helper_spec(const LaunchMaterial& material, process::BorrowedFd helper);

// SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV of Linux 5.19, which older headers lack. The helper drops
// it where the kernel does not know it.
inline constexpr std::uint32_t kWaitKillableRecv = 1U << 5;

// RLIMIT_CORE 0 and the limits of the policy.
std::vector<wire::Rlimit> rlimits_of(const std::vector<ProcessLimit>& limits);

// The script as the decision channel must know it.
CanaryScript channel_script(const CanaryPlan& plan);

// The entries of the script whose calls the channel saw.
std::set<std::uint32_t> reported_entries(const CanaryPlan& plan,
                                         const std::vector<CanaryReport>& reports);

// Whether this process is under a seccomp filter, which can only be somebody else's.
bool under_a_filter();

// Flags of landlock_restrict_self(2) for a launcher that executes: denials of the program are
// audited where the host audits at all. Measured: without it none is, after an exec.
std::uint32_t restrict_flags(std::int64_t abi);

}  // namespace aasm::backend_native
