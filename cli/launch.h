#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/planner/environment.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/planner/select.h"
#include "aasm/process/digest_cache.h"
#include "aasm/schema/record_run.h"

#include "home.h"
#include "options.h"

namespace aasm::cli {

// Everything that is known of a launch before it is planned: the same for a dry run and a live
// one. Gathering it opens and writes nothing of ours but the digest cache.
struct Launch {
  Home home;
  std::string working_dir;
  std::string helper_path;
  std::string aasm_path;
  schema::HostConditions conditions;
  planner::ResolvedPolicy policy;
  planner::EnvironmentPlan environment;
  planner::ExecutionSpec spec;
  planner::ProtectedPaths protect;
  std::vector<schema::Refusal> refusals;  // the program cannot be started, or not from in here
  std::vector<std::unique_ptr<planner::Backend>> backends;
};

// Changes into the working directory of the run. kInvalidArgument and friends name what is wrong
// with an option; what is wrong with policy or program is in the Launch itself.
schema::Result<Launch> gather_launch(const RunCommand& command, const Home& home,
                                     process::DigestCache& digests);

// Whether the command asks for a boundary from inside a run of aasm.
bool is_refused_as_nested(const RunCommand& command);

// Selects and negotiates. `probe` is asked for the capabilities of each backend considered.
planner::PlanningOutcome plan_launch(const Launch& launch, const RunCommand& command,
                                     planner::ProbeSource probe);

// The body of run.opened, but for what the sink fills.
schema::Result<schema::RunOpened> opened_body(const Launch& launch, const RunCommand& command);

// Facts of host and launcher, with the digests of aasm and of the helper at `helper_path`.
schema::Result<schema::HostConditions> host_conditions(const std::string& helper_path,
                                                       process::DigestCache& digests);

// Measures a backend in a temporary directory of its own, which is removed.
schema::Result<schema::CapabilityProbed> probe_backend(planner::Backend& backend,
                                                       const schema::HostConditions& conditions,
                                                       const std::string& helper_path);

}  // namespace aasm::cli
