#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/schema/record_boundary.h"
#include "aasm/schema/record_policy.h"
#include "aasm/wire/status_page.h"

#include "filter_spec.h"
#include "own_capabilities.h"
#include "process_limits.h"
#include "script_builder.h"

// The canaries of one launch: which harmless forbidden actions the helper tries before and inside
// the boundary, and what their results mean. The helper knows nothing of this; it runs a script
// (script_builder.h).
namespace aasm::backend_native {

// What a control attempt that does not succeed means.
enum class MissingControl : std::uint8_t {
  kFails,     // the canary proves nothing, so the launch is refused
  kNoCanary,  // this host does not let the action happen anyway: no_canary with the reason
  kIgnored,   // an attempt on something of ours: only its success matters
};

// One action of the script and how its two halves are read.
struct ScriptedCanary {
  schema::Canary canary;  // both attempts still open
  std::uint32_t entry = 0;
  std::vector<int> refusals;  // errnos that are the boundary's answer
  MissingControl missing_control = MissingControl::kFails;
  bool must_be_reported = false;  // by the decision channel
};

struct CanaryPlan {
  Script script;
  std::vector<ScriptedCanary> canaries;
  std::vector<schema::NoCanary> none;
  std::vector<std::uint32_t> forbidden_entries;  // whose inside halves the channel answers
};

// Of the supervisor's objects that canaries of ipc try: struct sockaddr_un, empty where there is
// none, and a number of System V shared memory, -1 without.
struct IpcCanaryNames {
  std::string path_address;
  std::string abstract_address;
  std::int64_t memory = -1;
};

// What the plan of canaries depends on. Borrowed for the call.
struct CanaryContext {
  const std::vector<schema::Requirement>& requirements;
  const planner::ProtectedPaths& protect;
  const FilterSpec& filter;
  CapabilitySets capabilities;  // of the supervisor, which the helper starts with
  bool cut_capabilities = false;
  // Somebody else's filter is on already: it may refuse any of the harmless calls first.
  bool outer_filter = false;
  int supervisor_pid = 0;
  int canary_descriptor = -1;          // open in the helper, not among those passed on
  std::vector<std::string> executing;  // files of ours that run: opening them says ETXTBSY
  std::string listener;                // the address of one of ours on loopback; empty: none
  std::span<const ProcessLimit> limits = {};
  IpcCanaryNames ipc = {};
};

// The script: first the canaries by domain, then the attempts on what is ours. Looks at the
// protected paths to leave out those that do not exist.
CanaryPlan plan_canaries(const CanaryContext& context);

struct CanaryVerdict {
  // In one piece; split by proved_records(). `no_canary` begins with the plan's own.
  schema::BoundaryProved proved;
  std::optional<planner::LaunchFailure> failure;
};

// `results` are those of the status page, `reported` the script entries whose call the channel saw.
// The first canary that did not hold gives canary_failed with the step it watches; with all of them
// holding, the first attempt on ours that succeeded gives self_protection_failed.
CanaryVerdict judge_canaries(const CanaryPlan& plan, std::span<const wire::ScriptResult> results,
                             const std::set<std::uint32_t>& reported);

// A raw result as an attempt: `refusals` tell the boundary's answer from other failures.
schema::Attempt read_attempt(std::int64_t raw, const std::vector<int>& refusals);

}  // namespace aasm::backend_native
