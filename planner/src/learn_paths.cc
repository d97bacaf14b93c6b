#include "learn_paths.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "aasm/planner/paths.h"

namespace aasm::planner {
namespace {

using Paths = std::map<std::string, Asking>;

// A path stands before those that it covers.
Paths without_covered(Paths&& asked) {
  Paths kept;
  for (auto& [path, by] : asked) {
    const auto cover = std::find_if(kept.begin(), kept.end(), [&path = path](const auto& one) {
      return path_covers(one.first, path);
    });
    if (cover != kept.end()) {
      merge(cover->second, by);
    } else {
      kept.emplace(path, std::move(by));
    }
  }
  return kept;
}

// The first directory of enough members that may stand for them; empty: there is none.
std::string next_directory(const Paths& asked,
                           const std::function<bool(const std::string&)>& may_stand) {
  std::map<std::string, std::size_t> members;
  for (const auto& [path, by] : asked) {
    ++members[directory_of(path)];
  }
  for (const auto& [directory, number] : members) {
    if (number >= kMembersForDirectory && may_stand(directory)) {
      return directory;
    }
  }
  return "";
}

}  // namespace

void merge(Asking& into, const Asking& more) {
  into.events += more.events;
  into.runs.insert(more.runs.begin(), more.runs.end());
  into.operations.insert(more.operations.begin(), more.operations.end());
}

bool is_wide(const std::string& path, const std::optional<std::string>& home) {
  return std::count(path.begin(), path.end(), '/') < 2 || (home && path_covers(path, *home));
}

std::string without_process_number(const std::string& path) {
  const std::string proc = "/proc/";
  return path.starts_with(proc) && path.size() > proc.size() && path[proc.size()] >= '0' &&
                 path[proc.size()] <= '9'
             ? "/proc"
             : path;
}

Paths generalise(Paths asked, const std::function<bool(const std::string&)>& may_stand) {
  asked = without_covered(std::move(asked));
  for (std::string directory = next_directory(asked, may_stand); !directory.empty();
       directory = next_directory(asked, may_stand)) {
    asked[directory];  // it takes what it covers
    asked = without_covered(std::move(asked));
  }
  return asked;
}

}  // namespace aasm::planner
