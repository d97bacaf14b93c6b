#include <algorithm>
#include <string_view>
#include <utility>

#include "aasm/planner/paths.h"
#include "aasm/planner/workspace.h"

namespace aasm::planner {
namespace {

// A small file; nothing when it is not there or not small.
std::string text_of(const WorkspaceHost& host, const std::string& path) {
  constexpr std::size_t kMaxBytes = 8192;
  const schema::Result<std::optional<std::string>> bytes = host.read(path, kMaxBytes);
  return bytes && *bytes ? **bytes : std::string();
}

// The one line of a small file, without `prefix` and the line's end.
std::optional<std::string> line_of(const WorkspaceHost& host, const std::string& path,
                                   std::string_view prefix) {
  const std::string bytes = text_of(host, path);
  if (!bytes.starts_with(prefix)) {
    return std::nullopt;
  }
  std::string line = bytes.substr(prefix.size());
  line.resize(std::min(line.size(), line.find('\n')));
  return line.empty() ? std::nullopt : std::optional<std::string>(line);
}

// `path` as written in a file of `directory`.
std::string from_directory(const std::string& path, const std::string& directory) {
  return path.starts_with('/') ? path : directory + "/" + path;
}

// Where the path leads; empty when nothing is there.
std::string resolved(const WorkspaceHost& host, const std::string& path) {
  const schema::Result<WalkedPath> walked = host.resolve(path);
  return walked && walked->exists ? walked->resolved : std::string();
}

// What a submodule's settings say of the place of its files (`core.worktree`).
bool names_worktree(const WorkspaceHost& host, const std::string& own) {
  constexpr std::string_view kKey = "worktree = ";
  const std::string text = text_of(host, own + "/config");
  for (std::size_t at = 0; (at = text.find(kKey, at)) != std::string::npos;) {
    at += kKey.size();
    const std::string named = text.substr(at, text.find('\n', at) - at);
    if (resolved(host, from_directory(named, own)) == resolved(host, host.workdir)) {
      return true;
    }
  }
  return false;
}

// Whether a directory says what the file `.git` said of it: a worktree's by its `gitdir` and by
// standing in `worktrees` of what it shares, a submodule's by its settings.
bool points_back(const WorkspaceHost& host, const std::vector<std::string>& directories) {
  const std::string& own = directories.front();
  if (directories.size() == 1) {
    return names_worktree(host, own);
  }
  const std::optional<std::string> back = line_of(host, own + "/gitdir", "");
  return back && directory_of(own) == directories.back() + "/worktrees" &&
         resolved(host, from_directory(*back, own)) == resolved(host, host.workdir + "/.git");
}

}  // namespace

std::vector<std::string> git_directories(const WorkspaceHost& host) {
  const std::string place = host.workdir + "/.git";
  const schema::Result<WalkedPath> walked = host.resolve(place);
  if (host.workdir.empty() || !walked || !walked->exists) {
    return {};
  }
  if (walked->is_directory) {
    return {walked->resolved};
  }
  const std::optional<std::string> named = line_of(host, place, "gitdir: ");
  std::string own = named ? resolved(host, from_directory(*named, host.workdir)) : std::string();
  if (own.empty()) {
    return {};
  }
  const std::optional<std::string> shared = line_of(host, own + "/commondir", "");
  std::string common = shared ? resolved(host, from_directory(*shared, own)) : std::string();
  if (common.empty()) {
    return {std::move(own)};
  }
  return {std::move(own), std::move(common)};
}

std::vector<std::string> confirmed_git_directories(const WorkspaceHost& host) {
  std::vector<std::string> directories = git_directories(host);
  const std::string place = resolved(host, host.workdir) + "/.git";
  const bool inside = !directories.empty() && directories.front() == place;
  if (!directories.empty() && !inside && !points_back(host, directories)) {
    return {};
  }
  return directories;
}

}  // namespace aasm::planner
