#include "scheduling_judge.h"

#include <sys/syscall.h>

namespace aasm::backend_native {
namespace {

// The kernel reads 32 bits of each.
std::uint32_t word(std::uint64_t argument) {
  return static_cast<std::uint32_t>(argument & 0xFFFFFFFFU);
}

}  // namespace

const std::vector<std::int32_t>& scheduling_calls() {
  static const std::vector<std::int32_t> calls = {SYS_setpriority,       SYS_ioprio_set,
                                                  SYS_sched_setaffinity, SYS_sched_setattr,
                                                  SYS_sched_setparam,    SYS_sched_setscheduler};
  return calls;
}

std::optional<SchedulingTarget> scheduling_target(const seccomp_data& data) {
  const std::uint32_t first = word(data.args[0]);
  const auto second = static_cast<std::int32_t>(word(data.args[1]));
  switch (data.nr) {
    case SYS_setpriority:
      return SchedulingTarget{first == kPriorityOfProcess, second};
    case SYS_ioprio_set:
      return SchedulingTarget{first == kIoPriorityOfProcess, second};
    case SYS_sched_setaffinity:
    case SYS_sched_setattr:
    case SYS_sched_setparam:
    case SYS_sched_setscheduler:
      return SchedulingTarget{true, static_cast<std::int32_t>(first)};
    default:
      return std::nullopt;
  }
}

}  // namespace aasm::backend_native
