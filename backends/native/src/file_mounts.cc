#include "file_mounts.h"

#include "aasm/planner/paths.h"

#include "mountinfo.h"

namespace aasm::backend_native {

std::vector<std::string> mounts_from_below(std::string_view mountinfo, std::string_view path) {
  const std::vector<Mount> mounts = read_mounts(mountinfo);
  const Mount* holds = nullptr;  // of equal places the later one is on top
  for (const Mount& mount : mounts) {
    if (planner::path_covers(mount.place, path) &&
        (holds == nullptr || mount.place.size() >= holds->place.size())) {
      holds = &mount;
    }
  }
  std::vector<std::string> places;
  if (holds == nullptr) {
    return places;
  }
  const std::string_view rest = path.substr(holds->place == "/" ? 0 : holds->place.size());
  const std::string inside = (holds->root == "/" ? "" : holds->root) + std::string(rest);
  for (const Mount& mount : mounts) {
    if (mount.device == holds->device && mount.root.size() > inside.size() &&
        planner::path_covers(inside, mount.root)) {
      places.push_back(mount.place);
    }
  }
  return places;
}

}  // namespace aasm::backend_native
