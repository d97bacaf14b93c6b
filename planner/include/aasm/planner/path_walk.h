#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/result.h"

namespace aasm::planner {

// What a file is, whatever it is called.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  auto operator<=>(const FileId&) const = default;
};

// A path followed by hand, component by component, with lstat(2) and readlink(2) only: nothing is
// opened.
struct WalkedPath {
  std::string resolved;  // free of symbolic links as far as it exists; the rest as written
  bool exists = false;
  int os_errno = 0;             // why the walk ended early: ENOENT, EACCES, ...
  std::optional<FileId> end;    // what the path names, when it exists
  std::vector<FileId> visited;  // the root, every directory gone through and every link followed
  std::uint64_t hard_links = 0;
  bool is_directory = false;
};

// Follows `path` (absolute, normalised). kUnsupported for a link of procfs such as /proc/self or
// what /dev/stdin leads to: it names another file for each process that follows it.
// kMalformed for more than 40 links.
schema::Result<WalkedPath> walk_path(const std::string& path);

}  // namespace aasm::planner
