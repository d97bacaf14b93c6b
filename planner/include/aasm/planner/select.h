#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/planner/execution_spec.h"
#include "aasm/planner/path_walk.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/schema/record_plan.h"

namespace aasm::planner {

// What a backend can do here: a probe, or an earlier one that still holds, in either case with its
// domains filled in (the record may then refer to the earlier one). Called at most once for each
// backend, and not at all for those that selection does not reach.
using ProbeSource = std::function<schema::Result<schema::CapabilityProbed>(Backend&)>;

struct SelectionInput {
  schema::IsolationClass isolation = schema::IsolationClass::kAuto;
  std::optional<std::string> backend_pin;  // --isolation-backend; not with isolation none
  std::vector<Backend*> backends;          // borrowed; those of this build
  const ResolvedPolicy* policy = nullptr;  // borrowed
  ExecutionSpec spec;
  ProtectedPaths protect;
  ProbeSource probe;
  HashFunction hash;
  // What the caller already found to refuse: program_not_found, nested_run_unsupported.
  std::vector<schema::Refusal> earlier;
  PathResolver resolver = PathWalker();
};

// A plan and the backend that carries it out (null: isolation none), or the refusal of the launch.
// `probes` are the capability sets that were asked for, as measured, in order.
struct PlanningOutcome {
  std::variant<schema::PlanResolved, schema::PlanRefused> record;
  Backend* backend = nullptr;
  std::vector<schema::CapabilityProbed> probes;

  const schema::PlanResolved* plan() const { return std::get_if<schema::PlanResolved>(&record); }
  const schema::PlanRefused* refused() const { return std::get_if<schema::PlanRefused>(&record); }
};

// The ids `auto` walks, in this order, and then those of other backends of the build.
std::vector<std::string> known_backends(const std::vector<Backend*>& backends);

// Decides whether and how the program runs. The walk takes the first backend of the class that is
// available here and meets every required requirement; a pinned one is the only candidate; a
// candidate that is not taken has its reason in the record. What is wrong with the policy itself,
// with its grants and with the requirements is refused together. No failure leads to a launch
// without the boundary.
PlanningOutcome select_and_negotiate(const SelectionInput& input);

}  // namespace aasm::planner
