#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "aasm/schema/result.h"

namespace aasm::backend_native {

// A line of /proc/PID/mountinfo (proc_pid_mountinfo(5)), its escapes undone.
struct Mount {
  std::string device;  // "8:1"
  std::string root;    // in its filesystem
  std::string place;   // where it is shown
  std::string type;
  std::string super_options;  // of the filesystem, with commas
};

// Lines that are none are passed over.
std::vector<Mount> read_mounts(std::string_view mountinfo);

// This process's own, at most 16 MiB.
schema::Result<std::string> read_mountinfo();

}  // namespace aasm::backend_native
