#include "memory_group.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/process/proc_status.h"

#include "left_behind.h"
#include "mountinfo.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::string_view kPrefix = "aasm-run-";
constexpr std::string_view kController = "memory";

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

bool names_controller(std::string_view list) {
  for (const std::string_view one : split(list, ',')) {
    if (one == kController) {
      return true;
    }
  }
  return false;
}

// "4:memory:/path"
std::optional<std::string_view> own_path(std::string_view own_groups) {
  for (const std::string_view line : split(own_groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second != std::string_view::npos &&
        names_controller(line.substr(first + 1, second - first - 1))) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

// Where `mount` shows the group `path`; nullopt: it is of something else, or of groups elsewhere.
std::optional<std::string> place_of(std::string_view path, const Mount& mount) {
  const std::string_view root = mount.root == "/" ? std::string_view() : mount.root;
  if (mount.type != "cgroup" || !names_controller(mount.super_options) || !path.starts_with(root) ||
      (path.size() > root.size() && path[root.size()] != '/')) {
    return std::nullopt;
  }
  return mount.place + std::string(path.substr(root.size()));
}

Result<void> write_value(const std::string& path, const std::string& value) {
  const process::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    return process::system_error("writing " + path, errno);
  }
  return {};
}

}  // namespace

Result<std::string> memory_group_folder(std::string_view own_groups, std::string_view mounts) {
  const std::optional<std::string_view> path = own_path(own_groups);
  if (!path) {
    return Error(ErrorCode::kUnsupported,
                 "this host has no control groups of version 1 with the controller memory");
  }
  for (const Mount& mount : read_mounts(mounts)) {
    if (const std::optional<std::string> place = place_of(*path, mount)) {
      return *place == "/" ? *place : place->substr(0, place->find_last_not_of('/') + 1);
    }
  }
  return Error(ErrorCode::kUnsupported,
               "our control group of the controller memory is not mounted");
}

Result<std::string> own_memory_groups() {
  const std::string groups = AASM_TRY(process::read_small_file("/proc/self/cgroup"));
  const std::string mounts = AASM_TRY(read_mountinfo());
  std::string folder = AASM_TRY(memory_group_folder(groups, mounts));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    const int os_errno = errno;
    return Error(ErrorCode::kPermissionDenied, folder + " cannot be written", os_errno);
  }
  return folder;
}

Result<MemoryGroup> MemoryGroup::make(std::uint64_t bytes) {
  const std::string folder = AASM_TRY(own_memory_groups());
  remove_left_behind(folder, kPrefix, ::rmdir);  // one with somebody in it stays
  MemoryGroup group;
  const std::string path = folder + "/" + std::string(kPrefix) + std::to_string(::getpid());
  ::rmdir(path.c_str());  // of a supervisor that had our number
  if (::mkdir(path.c_str(), 0700) != 0) {
    return process::system_error("making the control group " + path, errno);
  }
  group.folder_ = path;
  AASM_TRY(write_value(path + "/memory.limit_in_bytes", std::to_string(bytes)));
  // With swap where the kernel counts it: else what does not fit would only go there.
  const std::string with_swap = path + "/memory.memsw.limit_in_bytes";
  if (::access(with_swap.c_str(), F_OK) == 0) {
    AASM_TRY(write_value(with_swap, std::to_string(bytes)));
  }
  return group;
}

MemoryGroup::~MemoryGroup() {
  constexpr int kTries = 100;
  constexpr timespec kPause = {0, 5'000'000};
  for (int i = 0; !folder_.empty() && i < kTries && ::rmdir(folder_.c_str()) != 0 && errno == EBUSY;
       ++i) {
    ::nanosleep(&kPause, nullptr);  // the last of the tree is still ending
  }
}

Result<void> MemoryGroup::take(pid_t process) const {
  return write_value(folder_ + "/cgroup.procs", std::to_string(process));
}

bool MemoryGroup::has_killed() const {
  const Result<std::string> text = process::read_small_file(folder_ + "/memory.oom_control");
  constexpr std::string_view kCount = "oom_kill ";
  for (const std::string_view line : split(text ? *text : std::string_view(), '\n')) {
    if (line.starts_with(kCount)) {
      return line.substr(kCount.size()) != "0";
    }
  }
  return false;
}

}  // namespace aasm::backend_native
