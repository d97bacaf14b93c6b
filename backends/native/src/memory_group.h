#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "aasm/schema/result.h"

#include "memory_place.h"
#include "own_leaf.h"

namespace aasm::backend_native {

// A control group of one run, which limits the memory of the process tree together. The supervisor
// stays outside. Removed with the value: by then nothing of the tree may be left, and with version
// 2, which can, what is left is killed. One whose supervisor was killed is removed by the next run.
class MemoryGroup {
 public:
  MemoryGroup() = default;
  static schema::Result<MemoryGroup> make(const MemoryPlace& place, std::uint64_t bytes);
  MemoryGroup(MemoryGroup&& other) noexcept
      : leaf_(std::move(other.leaf_)), parts_(std::exchange(other.parts_, {})) {}
  MemoryGroup& operator=(MemoryGroup&& other) noexcept {
    std::swap(leaf_, other.leaf_);
    std::swap(parts_, other.parts_);
    return *this;
  }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  ~MemoryGroup();

  explicit operator bool() const { return !parts_.folder.empty(); }
  // Beyond the limit the kernel kills all of the tree, not one process of its choice.
  bool kills_together() const { return parts_.version2; }

  // Takes a process in, which everything that it makes from now on follows.
  schema::Result<void> take(pid_t process) const;

  // Whether the kernel has killed a process for want of memory in the group.
  bool has_killed() const;

 private:
  struct Parts {
    std::string folder;
    bool version2 = false;
  };

  schema::Result<void> limit(std::uint64_t bytes) const;

  OwnLeaf leaf_;  // goes back after the group is gone
  Parts parts_;
};

}  // namespace aasm::backend_native
