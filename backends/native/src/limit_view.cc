#include "limit_view.h"

#include <cerrno>
#include <utility>

#include "aasm/planner/backend.h"

#include "memory_place.h"
#include "process_limits.h"

namespace aasm::backend_native {
namespace {

using planner::ActionAnswer;
using planner::ActionView;

ActionView beyond(std::string mechanism, std::string rule, int os_errno, std::string note) {
  ActionView view;
  view.answer = ActionAnswer::kDenied;
  view.mechanism = std::move(mechanism);
  view.rule = std::move(rule);
  view.os_errno = os_errno;
  view.note = std::move(note);
  return view;
}

// getrlimit(2)
ActionView beyond_rlimit(const ProcessLimit& limit) {
  const std::string held = limit_text(limit) + " for each process: beyond, ";
  if (limit.operation == "open_files") {
    return beyond("rlimit", limit.rule, EMFILE, held + "a call that would open one more fails");
  }
  if (limit.operation == "file_size_bytes") {
    return beyond("rlimit", limit.rule, EFBIG,
                  held + "the writer is sent SIGXFSZ, and where it ignores that the call fails");
  }
  return beyond("rlimit", limit.rule, 0,
                held + "it is sent SIGXCPU, and SIGKILL a second of processor time later");
}

ActionView beyond_memory(const MemoryLimit& limit) {
  const schema::Result<MemoryPlace> place = own_memory_place();
  if (!place) {
    ActionView view;
    view.note = place.error().message();
    return view;
  }
  return beyond("cgroup", limit.rule, 0,
                std::string("the kernel kills ") +
                    (place->version2 ? "the tree" : "one process of the tree, by its choice") +
                    "; where the program ends by it, process.exited has cause memory_limit");
}

}  // namespace

ActionView view_limit(const std::vector<schema::Requirement>& requirements,
                      const std::string& name) {
  for (const ProcessLimit& limit : process_limits(requirements, own_limit)) {
    if (limit.operation == name) {
      return beyond_rlimit(limit);
    }
  }
  const auto memory = memory_limit(requirements);
  if (memory && name == "memory_bytes") {
    return beyond_memory(*memory);
  }
  const auto clock = wall_clock(requirements);
  if (clock && name == "wall_clock_seconds") {
    return beyond("supervisor_clock", clock->rule, 0,
                  "the program is sent SIGTERM, " +
                      std::to_string(planner::kWallClockGrace.count()) +
                      " s later the tree is killed; process.exited has cause wall_clock");
  }
  return {};
}

}  // namespace aasm::backend_native
