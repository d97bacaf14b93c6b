#pragma once

#include <functional>
#include <string>
#include <vector>

namespace aasm::planner {

// Whether a path is there on this machine.
using PathExists = std::function<bool(const std::string&)>;

// stat(2).
bool path_exists(const std::string& path);

// A variable by which a tool is told where to cache.
struct CacheVariable {
  std::string name;
  std::string directory;  // below the cache directory in the working directory; empty: itself

  bool operator==(const CacheVariable&) const = default;
};

// What a policy grants beyond the system's own programs and the working directory:
// survey_workspace() finds it. Paths are absolute.
struct Workspace {
  std::string home;                       // written as ${HOME}; empty: not known
  std::vector<std::string> programs;      // read and executed
  std::vector<std::string> readable;      // settings and caches
  std::vector<std::string> git_readable;  // the repository of a worktree
  std::vector<std::string> git_writable;  // what a commit changes in it
  bool git_inside = false;                // the repository is in the working directory
  std::vector<CacheVariable> caches;      // of the tools that are there
  std::vector<std::string> variables;     // passed on with the usual ones
};

// A policy that reads and executes the system's programs and libraries and the working directory,
// writes the working directory, makes the calls of @default, and gets the usual environment
// variables and those of `workspace`. Only paths that exist are granted; what is left out on
// purpose stands as a comment with the reason. Loads without a problem on the machine it was
// written for.
std::string starter_policy(const PathExists& exists, const Workspace& workspace = {});

}  // namespace aasm::planner
