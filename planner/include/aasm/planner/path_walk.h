#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aasm/schema/result.h"

namespace aasm::planner {

// What a file is, whatever it is called.
struct FileId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  auto operator<=>(const FileId&) const = default;
};

// What lstat(2) said of a place.
struct LstatAnswer {
  int os_errno = 0;  // 0: `facts` hold
  struct stat facts = {};
};

// A path followed by hand, component by component, with lstat(2) and readlink(2) only: nothing is
// opened.
struct WalkedPath {
  std::string resolved;  // free of symbolic links as far as it exists; the rest as written
  bool exists = false;
  int os_errno = 0;             // why the walk ended early: ENOENT, EACCES, ...
  std::optional<FileId> end;    // what the path names, when it exists
  std::vector<FileId> visited;  // the root, every directory gone through and every link followed
  std::vector<std::pair<std::string, std::string>> links;  // followed: place and target, in order
  std::uint64_t hard_links = 0;
  bool is_directory = false;
};

// Follows `path` (absolute; a `..` in it goes up from where the links before it have led).
// kUnsupported for a link of procfs such as /proc/self or what /dev/stdin leads to: it names
// another file for each process that follows it. kMalformed for more than 40 links.
schema::Result<WalkedPath> walk_path(const std::string& path);

// walk_path() for several paths that are looked at together: what stood at a place is asked once
// and remembered, and so is where a path has led, as long as the walker or a copy of it lives.
// Paths of one home share all but their last component. Same thread rule as a container.
class PathWalker {
 public:
  PathWalker();
  schema::Result<WalkedPath> operator()(const std::string& path) const;

 private:
  struct Memory {
    std::unordered_map<std::string, LstatAnswer> seen;
    std::unordered_map<std::string, WalkedPath> walked;
  };
  std::shared_ptr<Memory> memory_;
};

}  // namespace aasm::planner
