#include "steps.h"

#include <algorithm>

#include "filter_spec.h"
#include "lowering.h"
#include "observing.h"
#include "process_limits.h"
#include "ruleset.h"

namespace aasm::backend_native {
namespace {

using schema::Domain;
using schema::Requirement;

std::string grants_sentence(const std::vector<Requirement>& requirements, bool observes) {
  if (observes) {
    return "Restrict signals and tracing to the process tree by Landlock, which grants every file "
           "where files are observed.";
  }
  std::size_t reads = 0;
  std::size_t writes = 0;
  for (const GrantRequest& request : grant_requests(requirements)) {
    (request.domain == Domain::kFilesystemWrite ? writes : reads) += 1;
  }
  return "Restrict the filesystem by Landlock to " + std::to_string(reads) +
         " granted paths to read or execute and " + std::to_string(writes) +
         " to write, and signals and tracing to the process tree.";
}

std::string filter_sentence(const planner::ExecutionSpec& spec,
                            const std::vector<Requirement>& requirements) {
  const bool stated = requirement_on(requirements, Domain::kSyscall) != nullptr;
  const bool observes = spec.mode == planner::EnforcementMode::kObserve;
  return stated ? "Install a seccomp filter that notifies the supervisor of every system call the "
                  "policy does not allow; a denied caller receives " +
                      std::string(observes                   ? "what it would without policy."
                                  : spec.on_denial == "kill" ? "SIGKILL."
                                                             : "an error.")
                : "Install a seccomp filter that notifies the supervisor of the system calls that "
                  "self-protection closes.";
}

bool states_network(const std::vector<Requirement>& requirements) {
  return requirement_on(requirements, Domain::kNetworkEgress) != nullptr ||
         requirement_on(requirements, Domain::kNameResolution) != nullptr;
}

bool looks_up_names(const std::vector<Requirement>& requirements) {
  const Requirement* names = requirement_on(requirements, Domain::kNameResolution);
  return names != nullptr &&
         std::any_of(names->rules.begin(), names->rules.end(), [](const schema::PolicyRule& rule) {
           return rule.effect == schema::RuleEffect::kAllow;
         });
}

std::string limits_sentence(const std::vector<Requirement>& requirements) {
  std::string text = "Set the core file limit to 0";
  for (const ProcessLimit& limit : process_limits(requirements, [](std::uint32_t /*resource*/) {
         return InheritedLimit{UINT64_MAX, UINT64_MAX};  // the host may have less
       })) {
    text += ", " + limit.operation + " of each process to " + std::to_string(limit.asked);
  }
  return text + ".";
}

std::string ceiling_sentence(const ProcessCeiling& ceiling) {
  return ceiling.max == 0 ? "Refuse the creation of any process."
                          : "Refuse the creation of a process while there are " +
                                std::to_string(ceiling.max) + ".";
}

std::string clock_sentence(const WallClock& clock) {
  return "End the tree after " + std::to_string(clock.limit.count()) + " s of wall clock.";
}

std::string observing_sentence(const std::vector<Requirement>& requirements) {
  std::string text;
  for (const Requirement& requirement : requirements) {
    if (can_be_observed(requirement.domain)) {
      text += (text.empty() ? "" : ", ") + std::string(schema::token(requirement.domain));
    }
  }
  return "Refuse nothing by policy where the channel reports calls (" + text +
         "): let it through and record it as observed. Keep aasm's own files, processes and the "
         "calls that self-protection closes out of reach all the same.";
}

}  // namespace

std::vector<std::string> installation_steps(const planner::ExecutionSpec& spec) {
  const std::vector<Requirement> requirements = installable_requirements(spec);
  const bool observes = spec.mode == planner::EnforcementMode::kObserve;
  std::vector<std::string> steps = {
      "Start the launch helper with a warden that ends the process tree with the supervisor.",
      "Set no_new_privs.",
      "Close every descriptor that is not passed on.",
      limits_sentence(requirements),
      "Reduce root's capabilities to those for files, user change and low ports.",
      grants_sentence(requirements, observes),
  };
  if (observes) {
    steps.push_back(observing_sentence(requirements));
  }
  if (states_network(requirements)) {
    steps.emplace_back(
        "Start the broker, which makes the calls on sockets that policy allows, out of the "
        "program's reach; close all TCP ports to the program itself.");
  }
  if (looks_up_names(requirements)) {
    steps.emplace_back(
        "Answer the program's questions for names by a resolver in the supervisor, which asks the "
        "host's name servers only for those that policy allows.");
  }
  steps.push_back(filter_sentence(spec, requirements));
  if (const auto ceiling = process_ceiling(requirements)) {
    steps.push_back(ceiling_sentence(*ceiling));
  }
  if (spec.witness) {
    steps.emplace_back(spec.witness == schema::WitnessWish::kEnable
                           ? "Listen to the kernel's audit of Landlock, and switch the host's "
                             "audit on for that while it is off."
                           : "Listen to the kernel's audit of Landlock where the host's is on.");
  }
  steps.emplace_back("Try this run's canaries before and inside the boundary.");
  steps.emplace_back("Execute the program with the delegated environment.");
  if (const auto clock = wall_clock(requirements)) {
    steps.push_back(clock_sentence(*clock));
  }
  return steps;
}

}  // namespace aasm::backend_native
