#include "memory_group.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <sstream>
#include <string_view>

#include "aasm/process/fd.h"
#include "aasm/process/proc_status.h"

#include "left_behind.h"

namespace aasm::backend_native {
namespace {

using schema::Result;

constexpr std::string_view kPrefix = "aasm-run-";

// What a kernel without the feature does not have is left out.
Result<void> write_if_there(const std::string& path, const std::string& value) {
  return ::access(path.c_str(), F_OK) == 0 ? write_to_group(path, value) : Result<void>();
}

}  // namespace

Result<MemoryGroup> MemoryGroup::make(const MemoryPlace& place, std::uint64_t bytes) {
  const std::string& folder = place.folder;
  for (const std::string_view prefix : {kPrefix, OwnLeaf::kPrefix}) {
    remove_left_behind(folder, prefix, ::rmdir);  // one with somebody in it stays
  }
  MemoryGroup group;
  if (place.has_to_be_left) {
    group.leaf_ = AASM_TRY(OwnLeaf::enter(folder, kMemoryController));
  } else if (place.version2 && !gives_children(folder, kMemoryController)) {
    AASM_TRY(
        write_to_group(folder + "/cgroup.subtree_control", "+" + std::string(kMemoryController)));
  }
  const std::string path = folder + "/" + std::string(kPrefix) + std::to_string(::getpid());
  ::rmdir(path.c_str());  // of a supervisor that had our number
  if (::mkdir(path.c_str(), 0700) != 0) {
    return process::system_error("making the control group " + path, errno);
  }
  group.parts_ = {path, place.version2};
  AASM_TRY(group.limit(bytes));
  return group;
}

// With swap where the kernel counts it: else what does not fit would only go there.
Result<void> MemoryGroup::limit(std::uint64_t bytes) const {
  const std::string& path = parts_.folder;
  const std::string value = std::to_string(bytes);
  if (!parts_.version2) {
    AASM_TRY(write_to_group(path + "/memory.limit_in_bytes", value));
    return write_if_there(path + "/memory.memsw.limit_in_bytes", value);
  }
  AASM_TRY(write_to_group(path + "/memory.max", value));
  AASM_TRY(write_if_there(path + "/memory.swap.max", "0"));
  return write_to_group(path + "/memory.oom.group", "1");
}

MemoryGroup::~MemoryGroup() {
  constexpr int kTries = 100;
  constexpr timespec kPause = {0, 5'000'000};
  const std::string& folder = parts_.folder;
  if (parts_.version2 && !folder.empty()) {
    (void)write_if_there(folder + "/cgroup.kill", "1");
  }
  for (int i = 0; !folder.empty() && i < kTries && ::rmdir(folder.c_str()) != 0 && errno == EBUSY;
       ++i) {
    ::nanosleep(&kPause, nullptr);  // the last of the tree is still ending
  }
}

Result<void> MemoryGroup::take(pid_t process) const {
  return write_to_group(parts_.folder + "/cgroup.procs", std::to_string(process));
}

bool MemoryGroup::has_killed() const {
  const char* file = parts_.version2 ? "/memory.events" : "/memory.oom_control";
  const Result<std::string> text = process::read_small_file(parts_.folder + file);
  std::istringstream words(text ? *text : std::string());
  for (std::string name, count; words >> name >> count;) {
    if (name == "oom_kill") {
      return count != "0";
    }
  }
  return false;
}

}  // namespace aasm::backend_native
