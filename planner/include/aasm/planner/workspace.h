#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/lower.h"
#include "aasm/planner/policy_resolve.h"
#include "aasm/planner/starter.h"

namespace aasm::planner {

// What a starter policy is fitted to. Paths are absolute.
struct WorkspaceHost {
  std::vector<std::string> program_path;  // the directories of $PATH
  std::optional<std::string> home;
  std::string workdir;  // empty: for no place in particular
  PathExists exists = path_exists;
  PathResolver resolve = PathWalker();
  PolicyReader read = read_policy_file;  // asked for the small files by which a worktree and its
                                         // repository name each other
};

// Looks for the programs of toolchains on PATH and for what they are installed with, for git's
// files and for the repository of a worktree. Opens nothing but through `read`, runs nothing.
Workspace survey_workspace(const WorkspaceHost& host);

// The git directories of a working directory: its own, and the one it shares with the others of its
// repository, as git itself would follow them. Empty where it is not the top of one.
std::vector<std::string> git_directories(const WorkspaceHost& host);

// The same, and empty as well where only the working directory says so: a file `.git` in it, or a
// link, is the word of whoever may write there, such as the agent of an earlier run.
std::vector<std::string> confirmed_git_directories(const WorkspaceHost& host);

}  // namespace aasm::planner
