#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "aasm/schema/result.h"

// A control group that limits the memory of a process tree (cgroups(7), version 1, controller
// memory). Version 2 would need this process to leave its own group first, and is not used.
namespace aasm::backend_native {

// A folder of groups, or why there is none: from /proc/self/cgroup and /proc/self/mountinfo. Pure.
schema::Result<std::string> memory_group_folder(std::string_view own_groups,
                                                std::string_view mounts);

// The folder of this process's own group, when groups can be made in it.
schema::Result<std::string> own_memory_groups();

// A group of one run, below that of the supervisor, which stays outside. Removed with the value: by
// then nothing of the tree may be left. One whose supervisor was killed is removed by the next.
class MemoryGroup {
 public:
  MemoryGroup() = default;
  static schema::Result<MemoryGroup> make(std::uint64_t bytes);
  MemoryGroup(MemoryGroup&& other) noexcept : folder_(std::exchange(other.folder_, {})) {}
  MemoryGroup& operator=(MemoryGroup&& other) noexcept {
    std::swap(folder_, other.folder_);
    return *this;
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  ~MemoryGroup();

  explicit operator bool() const { return !folder_.empty(); }

  // Takes a process in, which everything that it makes from now on follows.
  schema::Result<void> take(pid_t process) const;

  // Whether the kernel has killed a process for want of memory in the group.
  bool has_killed() const;

 private:
  std::string folder_;
};

}  // namespace aasm::backend_native
