#include "file_place.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/planner/paths.h"

namespace aasm::backend_native {
namespace {

using Names = std::vector<std::string>;

// Whether `names` begins with `start`, from its number `from` on.
bool begins_with(const Names& names, std::size_t from, const Names& start) {
  return names.size() - from >= start.size() &&
         std::equal(start.begin(), start.end(), names.begin() + static_cast<std::ptrdiff_t>(from));
}

Standing by_path(const FileDenial& denial, const ResolvedFile& file) {
  if (file.path.empty()) {
    return Standing::kElsewhere;
  }
  if (planner::path_covers(denial.path, file.path)) {
    return Standing::kInside;
  }
  return planner::path_covers(file.path, denial.path) ? Standing::kAbove : Standing::kElsewhere;
}

// `id` is the file itself or a directory above it, and `names` from number `from` on lead from
// there to the file.
Standing by_way(const FileWay& way, const FileId& id, const Names& names, std::size_t from) {
  if (way.from != id) {
    return Standing::kElsewhere;
  }
  if (begins_with(names, from, way.names)) {
    return Standing::kInside;
  }
  const Names rest(names.begin() + static_cast<std::ptrdiff_t>(from), names.end());
  return begins_with(way.names, 0, rest) ? Standing::kAbove : Standing::kElsewhere;
}

// "/granted" and the names that lead on from it.
std::string path_from(const std::string& place, const Names& names, std::size_t from) {
  std::string path = place == "/" ? "" : place;
  for (std::size_t i = from; i < names.size(); ++i) {
    path += "/" + names[i];
  }
  return path.empty() ? "/" : path;
}

// How a grant covers a file: the path of the file as the grant names it. nullopt: not at all.
std::optional<std::string> covered(const FileGrant& grant, const ResolvedFile& file,
                                   const Names& names, bool name) {
  if (!file.path.empty() && planner::path_covers(grant.path, file.path) &&
      (!name || grant.path.size() != file.path.size())) {
    return file.path;
  }
  if (!name && file.exists && grant.id == file.id) {
    return grant.path;
  }
  for (std::size_t i = 0; i < file.parents.size() && i < names.size(); ++i) {
    if (grant.id == file.parents[i]) {
      return path_from(grant.path, names, names.size() - 1 - i);
    }
  }
  return std::nullopt;
}

}  // namespace

Standing standing_to(const FileDenial& denial, const ResolvedFile& file) {
  Standing standing = by_path(denial, file);
  const Names names = path_names(file.path);
  for (const FileWay& way : denial.ways) {
    if (file.exists) {
      standing = std::max(standing, by_way(way, file.id, names, names.size()));
    }
    for (std::size_t i = 0; i < file.parents.size() && i < names.size(); ++i) {
      standing = std::max(standing, by_way(way, file.parents[i], names, names.size() - 1 - i));
    }
  }
  return standing;
}

bool holds_from_launch(const FileDenial& denial, const ResolvedFile& file) {
  return file.exists &&
         std::any_of(denial.ways.begin(), denial.ways.end(), [&file](const FileWay& way) {
           return way.from == file.id && !way.names.empty();
         });
}

Granted granted_to(const FileSpec& spec, const ResolvedFile& file, bool name, schema::Domain domain,
                   std::uint64_t wanted) {
  const Names names = path_names(file.path);
  Granted granted;
  for (const FileGrant& grant : spec.grants) {
    std::optional<std::string> path = covered(grant, file, names, name);
    if (!path) {
      continue;
    }
    granted.rights |= grant.rights;
    const bool narrower =
        granted.narrowest == nullptr || grant.path.size() > granted.narrowest->path.size();
    if (grant.domain == domain && (grant.rights & wanted) != 0 && narrower) {
      granted.narrowest = &grant;
      granted.path = std::move(*path);
    }
  }
  return granted;
}

}  // namespace aasm::backend_native
