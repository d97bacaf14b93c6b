#include "memory_place.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <sstream>

#include "aasm/backends/native.h"
#include "aasm/process/proc_status.h"

#include "mountinfo.h"
#include "process_limits.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::string_view kVersion1 = "cgroup";
constexpr std::string_view kVersion2 = "cgroup2";

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

bool names(std::string_view list, std::string_view controller) {
  const std::vector<std::string_view> all = split(list, ',');
  return std::find(all.begin(), all.end(), controller) != all.end();
}

struct OwnGroup {
  std::string_view path;
  bool version2 = false;
};

// "4:memory:/path", or the line "0::/path" of version 2 where no other has the controller.
std::optional<OwnGroup> own_group(std::string_view own_groups, std::string_view controller) {
  std::optional<OwnGroup> found;
  for (const std::string_view line : split(own_groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) {
      continue;
    }
    const std::string_view path = line.substr(second + 1);
    if (names(line.substr(first + 1, second - first - 1), controller)) {
      return OwnGroup{path, false};
    }
    if (line.starts_with("0::")) {
      found = OwnGroup{path, true};
    }
  }
  return found;
}

bool is_of(const Mount& mount, bool version2, std::string_view controller) {
  return version2 ? mount.type == kVersion2
                  : mount.type == kVersion1 && names(mount.super_options, controller);
}

// Where `mount` shows the group; nullopt: it is of something else, or of groups elsewhere.
std::optional<std::string> folder_in(const OwnGroup& group, std::string_view controller,
                                     const Mount& mount) {
  const std::string_view root = mount.root == "/" ? std::string_view() : mount.root;
  const std::string_view path = group.path;
  if (!is_of(mount, group.version2, controller) ||
      path.starts_with("/..") ||  // above the control groups that our namespace shows
      !path.starts_with(root) || (path.size() > root.size() && path[root.size()] != '/')) {
    return std::nullopt;
  }
  const std::string shown = mount.place + std::string(path.substr(root.size()));
  return shown == "/" ? shown : shown.substr(0, shown.find_last_not_of('/') + 1);
}

bool can_write(const std::string& path, int mode = W_OK) {
  return ::access(path.c_str(), mode) == 0;
}

bool can_make_groups_in(const std::string& folder) {
  return can_write(folder, W_OK | X_OK) && can_write(folder + "/cgroup.procs");
}

bool has(const std::string& group, std::string_view controller) {
  const std::vector<std::string> all = words_of_file(group + "/cgroup.controllers");
  return std::find(all.begin(), all.end(), controller) != all.end();
}

Error no_group(std::string reason) {
  return Error(ErrorCode::kUnsupported, std::move(reason));
}

}  // namespace

std::vector<std::string> words_of_file(const std::string& path) {
  const Result<std::string> text = process::read_small_file(path);
  std::istringstream words(text ? *text : std::string());
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

bool gives_children(const std::string& group, std::string_view controller) {
  const std::vector<std::string> all = words_of_file(group + "/cgroup.subtree_control");
  return std::find(all.begin(), all.end(), controller) != all.end();
}

Result<ShownGroup> shown_group(std::string_view own_groups, std::string_view mounts,
                               std::string_view controller) {
  const std::optional<OwnGroup> group = own_group(own_groups, controller);
  if (!group) {
    return no_group("this host has no control groups with the controller " +
                    std::string(controller));
  }
  for (const Mount& mount : read_mounts(mounts)) {
    if (std::optional<std::string> folder = folder_in(*group, controller, mount)) {
      return ShownGroup{std::move(*folder), mount.place, group->version2};
    }
  }
  return no_group("our control group of the controller " + std::string(controller) +
                  " is not mounted");
}

Result<MemoryPlace> version2_place(const ShownGroup& own, std::string_view controller, pid_t self) {
  const bool is_root = ::access((own.folder + "/cgroup.type").c_str(), F_OK) != 0;
  if (!has(own.folder, controller)) {
    return no_group(own.folder + " has no controller " + std::string(controller));
  }
  if (is_root) {
    return can_make_groups_in(own.folder)
               ? Result<MemoryPlace>(MemoryPlace{own.folder, true, false})
               : no_group(own.folder + " cannot be written");
  }
  const std::string parent = own.folder.substr(0, own.folder.rfind('/'));
  if (own.folder != own.top && can_make_groups_in(parent) && gives_children(parent, controller)) {
    return MemoryPlace{parent, true, false};
  }
  const std::string advice =
      "; started by `systemd-run --user --scope -p Delegate=yes` it would be in one of its own";
  if (!can_make_groups_in(own.folder) || !can_write(own.folder + "/cgroup.subtree_control")) {
    return no_group("neither our control group " + own.folder +
                    " nor the one above is ours to write" + advice);
  }
  if (words_of_file(own.folder + "/cgroup.procs") !=
      std::vector<std::string>{std::to_string(self)}) {
    return no_group("aasm is not alone in its control group " + own.folder + advice);
  }
  return MemoryPlace{own.folder, true, true};
}

std::vector<std::string> mounts_of_groups(std::string_view own_groups, std::string_view mounts,
                                          std::string_view controller) {
  const std::optional<OwnGroup> group = own_group(own_groups, controller);
  std::vector<std::string> places;
  for (const Mount& mount : read_mounts(mounts)) {
    if (group && is_of(mount, group->version2, controller)) {
      places.push_back(mount.place);
    }
  }
  return places;
}

std::vector<std::string> places_of_limits(const std::vector<schema::Requirement>& requirements) {
  if (!memory_limit(requirements)) {
    return {};
  }
  const Result<std::string> groups = process::read_small_file("/proc/self/cgroup");
  const Result<std::string> mounts = read_mountinfo();
  if (!groups || !mounts) {
    return {};
  }
  std::vector<std::string> places;
  for (const std::string& mount : mounts_of_groups(*groups, *mounts, kMemoryController)) {
    places.push_back(mount);
    places.push_back(mount + "/cgroup.procs");
  }
  return places;
}

Result<MemoryPlace> own_memory_place() {
  const std::string groups = AASM_TRY(process::read_small_file("/proc/self/cgroup"));
  const std::string mounts = AASM_TRY(read_mountinfo());
  ShownGroup own = AASM_TRY(shown_group(groups, mounts, kMemoryController));
  if (own.version2) {
    return version2_place(own, kMemoryController, ::getpid());
  }
  if (!can_write(own.folder, W_OK | X_OK)) {
    const int os_errno = errno;
    return Error(ErrorCode::kPermissionDenied, own.folder + " cannot be written", os_errno);
  }
  return MemoryPlace{std::move(own.folder), false, false};
}

}  // namespace aasm::backend_native
