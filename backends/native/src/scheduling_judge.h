#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <vector>

// Calls that change the scheduling of a thread, a group or all of a user: setpriority, ioprio_set,
// sched_set*. All that is judged of them stands in registers.
namespace aasm::backend_native {

inline constexpr std::uint32_t kPriorityOfProcess = 0;    // PRIO_PROCESS of sys/resource.h
inline constexpr std::uint32_t kIoPriorityOfProcess = 1;  // IOPRIO_WHO_PROCESS of linux/ioprio.h

struct SchedulingTarget {
  bool is_one = true;    // false: a process group, or every process of a user
  std::int32_t who = 0;  // thread id as the caller numbers it; 0: the caller itself
};

const std::vector<std::int32_t>& scheduling_calls();

// nullopt for every other call.
std::optional<SchedulingTarget> scheduling_target(const seccomp_data& data);

}  // namespace aasm::backend_native
