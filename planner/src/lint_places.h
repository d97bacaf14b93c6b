#pragma once

#include <optional>
#include <string>
#include <vector>

#include "aasm/planner/lower.h"
#include "aasm/planner/path_walk.h"

namespace aasm::planner {

// A place on the host that a grant should not reach unnoticed.
struct WatchedPlace {
  std::string path;
  WalkedPath walked;
};

std::vector<WatchedPlace> look_at_places(const std::vector<std::string>& paths,
                                         const PathResolver& resolve);

// What a login shell, the desktop or cron of this user runs by itself.
std::vector<std::string> startup_files(const std::optional<std::string>& home);
// Keys, passwords and tokens at rest.
std::vector<std::string> credential_places(const std::optional<std::string>& home);
// Where git finds programs to run: in repositories, and for this user.
std::vector<std::string> git_programs(const std::vector<std::string>& git_dirs,
                                      const std::optional<std::string>& home);

// The places that lie in what is granted, as they are called; `granted` is free of links. With
// `inside`, also those that the grant lies in.
std::vector<std::string> reached(const std::string& granted, const WalkedPath& walked,
                                 const std::vector<WatchedPlace>& places, bool inside);

}  // namespace aasm::planner
