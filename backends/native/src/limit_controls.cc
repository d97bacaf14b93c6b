#include <string>
#include <utility>

#include "control_parts.h"
#include "process_limits.h"

namespace aasm::backend_native {
namespace {

using schema::Control;
using schema::Domain;
using schema::Purpose;
using wire::Step;

void add_creation_control(const PreparedFacts& facts, std::vector<Control>& controls) {
  if (!facts.filter.ceiling) {
    return;
  }
  const std::int64_t max = facts.filter.ceiling->max;
  Control control = control_of(facts, "process_count", Domain::kProcessCreation, Step::kSeccomp);
  serve_policy(facts, control);
  control.mechanism = "seccomp_user_notification";
  control.note = max == 0
                     ? "no process may be created"
                     : "at most " + std::to_string(max) +
                           " processes at a time, the program included; threads are not counted";
  controls.push_back(std::move(control));
}

// No step of the helper's: the supervisor does it, which is there already.
Control supervisors_control(const PreparedFacts& facts, std::string id, std::string mechanism,
                            std::string rule) {
  Control control = control_of(facts, std::move(id), Domain::kResource, Step::kExec);
  control.purpose = Purpose::kPolicy;
  control.mechanism = std::move(mechanism);
  control.installed = true;
  control.os_errno = 0;
  control.rules = {std::move(rule)};
  return control;
}

}  // namespace

void add_limit_controls(const PreparedFacts& facts, std::vector<Control>& controls) {
  add_creation_control(facts, controls);
  for (const ProcessLimit& limit : facts.limits) {
    Control control = control_of(facts, limit.operation, Domain::kResource, Step::kResourceLimits);
    control.purpose = Purpose::kPolicy;
    control.mechanism = "rlimit";
    control.rules = {limit.rule};
    control.note = limit_text(limit);
    controls.push_back(std::move(control));
  }
  const auto memory = memory_limit(facts.request.spec.requirements);
  if (memory && facts.memory != nullptr) {
    Control control = supervisors_control(facts, "memory_bytes", "cgroup", memory->rule);
    control.note = "the tree together has at most " + std::to_string(memory->bytes) +
                   " bytes of memory and page cache; beyond, the kernel kills " +
                   (facts.memory->kills_together() ? "all of it" : "one of its processes");
    controls.push_back(std::move(control));
  }
  if (const auto clock = wall_clock(facts.request.spec.requirements)) {
    Control control =
        supervisors_control(facts, "wall_clock_seconds", "supervisor_clock", clock->rule);
    control.note = "after " + std::to_string(clock->limit.count()) +
                   " s by the monotonic clock the program is sent SIGTERM, and " +
                   std::to_string(planner::kWallClockGrace.count()) + " s later the tree is killed";
    controls.push_back(std::move(control));
  }
}

}  // namespace aasm::backend_native
