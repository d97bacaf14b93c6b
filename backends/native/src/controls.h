#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "aasm/planner/backend.h"
#include "aasm/schema/record_boundary.h"
#include "aasm/wire/status_page.h"

#include "filter_spec.h"
#include "helper_frame.h"
#include "memory_group.h"
#include "network_setup.h"
#include "process_limits.h"
#include "ruleset.h"

namespace aasm::backend_native {

// What the records of one preparation are made from. Borrowed for the call.
struct PreparedFacts {
  const planner::LaunchRequest& request;
  const Ruleset& ruleset;
  const FilterSpec& filter;
  const schema::SeccompDetail& seccomp;         // seccomp_detail() of the filter
  std::span<const wire::StepReport> steps;      // as the helper reported them
  std::optional<CapabilityCut> cut;             // nullopt: there was nothing to cut
  const InnerRuleset* inner_ruleset = nullptr;  // where the network is judged
  std::span<const ProcessLimit> limits = {};
  const MemoryGroup* memory = nullptr;  // that the child is in
};

// The controls in the order of their installation. A control whose denials a stated requirement
// asks for has purpose policy and lists the ids such denials cite: the requirement's default rule
// and its deny rules. What is installed whatever the policy says has purpose self_protection and
// lists "self_protection.<name>" and "compat.<name>". A control counts as installed only when the
// helper reported its step done.
std::vector<schema::Control> list_controls(const PreparedFacts& facts);

// The body of control.prepared, in as many parts as its lists need. `images` and `bound` stand in
// the first.
std::vector<schema::ControlPrepared> control_records(std::vector<schema::Control> controls,
                                                     std::vector<schema::PreparedImage> images,
                                                     schema::BoundBy bound,
                                                     const std::string& failed_step);

// Puts into them what the helper reported, for which `facts.steps` was left empty. Controls of the
// step exec are not the helper's and stay.
void report_steps(std::span<const wire::StepReport> steps, const std::string& failed_step,
                  std::vector<schema::ControlPrepared>& records);

// boundary.proved in as many parts as it needs.
std::vector<schema::BoundaryProved> proved_records(schema::BoundaryProved proved);

}  // namespace aasm::backend_native
