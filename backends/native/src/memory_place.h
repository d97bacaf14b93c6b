#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/result.h"

// Where this process can make control groups that limit memory (cgroups(7), both versions).
namespace aasm::backend_native {

inline constexpr std::string_view kMemoryController = "memory";

struct MemoryPlace {
  std::string folder;  // groups are made in it
  bool version2 = false;
  // Of version 2: `folder` is our own group, with nobody but us in it. Groups below one that holds
  // processes are not limited, so we have to leave it first.
  bool has_to_be_left = false;
};

// A group as a mount shows it.
struct ShownGroup {
  std::string folder;
  std::string top;  // where the mount begins
  bool version2 = false;
};

// The group that `own_groups` (/proc/self/cgroup) names for `controller`, which is of version 2
// where no hierarchy of version 1 has it; whether it has it there, only its files tell. Pure.
schema::Result<ShownGroup> shown_group(std::string_view own_groups, std::string_view mounts,
                                       std::string_view controller);

// Groups are made in `own`, of version 2, where it is the root of all, which alone may hold
// processes beside them; else beside it, where its parent is ours to write and gives the controller
// to its children; else in it, where `self` is alone in it. An error says what is in the way.
// Changes nothing.
schema::Result<MemoryPlace> version2_place(const ShownGroup& own, std::string_view controller,
                                           pid_t self);

// Where the hierarchy with the controller is mounted: who may write there leaves any group.
std::vector<std::string> mounts_of_groups(std::string_view own_groups, std::string_view mounts,
                                          std::string_view controller);

// Of this process, as the host is now.
schema::Result<MemoryPlace> own_memory_place();

// The words of a file such as cgroup.procs or cgroup.controllers; none where it cannot be read.
std::vector<std::string> words_of_file(const std::string& path);
bool gives_children(const std::string& group, std::string_view controller);

}  // namespace aasm::backend_native
