#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/planner/environment.h"
#include "aasm/planner/execution_spec.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/planner/select.h"

// Policy to plan, in the order a session calls it:
//
//   1. resolve_policy(request)        find, read and lower the policy   -> policy.resolved
//   2. build_spec(policy, inputs)     what is to run and what it may do
//   3. select_and_negotiate(input)    the backend and the plan, or the refusal
//                                     -> capability.probed, plan.resolved or plan.refused
//
// Each step gives a value for every input; what is wrong travels in it as a state or a refusal. The
// planner starts no process and opens one file, the policy.
namespace aasm::planner {

// What the launcher knows of the program. `environment` is its own, as execve(2) would pass it.
struct SpecInputs {
  schema::AgentIdentity identity;
  std::string program;        // absolute, as resolved along PATH
  std::string given_program;  // as given on the command line
  std::int64_t arg_count = 0;
  std::string working_dir;  // absolute
  std::vector<std::string> environment;
};

struct BuiltSpec {
  ExecutionSpec spec;
  EnvironmentPlan environment;  // what the program gets: LaunchRequest takes it from here
};

// Where files are to be observed, each call on them has to be decided: raises the evidence that
// both filesystem requirements ask for.
void wish_to_observe(schema::PolicyResolved& policy);

BuiltSpec build_spec(const ResolvedPolicy& policy, const SpecInputs& inputs);

}  // namespace aasm::planner
