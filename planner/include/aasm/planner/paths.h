#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "aasm/schema/result.h"

namespace aasm::planner {

// What `${WORKDIR}` and `${HOME}` stand for. Both absolute when set.
struct PathContext {
  std::string workdir;
  std::optional<std::string> home;
};

// A path of a policy as the rest of the program uses it: `${WORKDIR}` or `${HOME}` at its start
// replaced, absolute, no `.`, no `//`, no `/` at its end, no `..` anywhere, no name of more than
// 255 and not more than 4095 bytes in all, which no kernel call would take. kMalformed with a
// sentence that says what to write instead. Symbolic links are not looked at here.
schema::Result<std::string> policy_path(std::string_view text, const PathContext& context);

// The same rules without variables, for a path that came from elsewhere.
schema::Result<std::string> normalised_path(std::string_view text);

// True when `path` is `upper` or lies below it, by whole components: /usr covers /usr/lib and not
// /usr2. Both as normalised_path() gives them.
bool path_covers(std::string_view upper, std::string_view path);

// The directory that an absolute path is in; of the root, the root.
std::string directory_of(const std::string& path);

}  // namespace aasm::planner
