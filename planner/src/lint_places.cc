#include "lint_places.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "aasm/planner/paths.h"

namespace aasm::planner {
namespace {

constexpr std::array<std::string_view, 17> kStartup = {".bashrc",
                                                       ".bash_profile",
                                                       ".bash_login",
                                                       ".bash_logout",
                                                       ".profile",
                                                       ".zshrc",
                                                       ".zshenv",
                                                       ".zprofile",
                                                       ".zlogin",
                                                       ".kshrc",
                                                       ".cshrc",
                                                       ".tcshrc",
                                                       ".xprofile",
                                                       ".config/fish",
                                                       ".config/autostart",
                                                       ".config/systemd/user",
                                                       ".pam_environment"};
constexpr std::array<std::string_view, 7> kSystemStartup = {
    "/etc/profile", "/etc/profile.d", "/etc/bash.bashrc", "/etc/zsh",
    "/etc/cron.d",  "/etc/systemd",   "/var/spool/cron"};

constexpr std::array<std::string_view, 19> kCredentials = {".ssh",
                                                           ".aws",
                                                           ".gnupg",
                                                           ".netrc",
                                                           ".kube",
                                                           ".docker",
                                                           ".azure",
                                                           ".config/gcloud",
                                                           ".config/gh",
                                                           ".config/op",
                                                           ".git-credentials",
                                                           ".config/git/credentials",
                                                           ".npmrc",
                                                           ".pypirc",
                                                           ".cargo/credentials.toml",
                                                           ".pgpass",
                                                           ".vault-token",
                                                           ".terraform.d",
                                                           ".password-store"};
constexpr std::array<std::string_view, 4> kSystemCredentials = {"/etc/shadow", "/etc/gshadow",
                                                                "/etc/ssh", "/etc/ssl/private"};

template <std::size_t N>
void add(std::vector<std::string>& paths, const std::string& directory,
         const std::array<std::string_view, N>& names) {
  for (const std::string_view name : names) {
    paths.push_back(directory + "/" + std::string(name));
  }
}

template <std::size_t N, std::size_t M>
std::vector<std::string> places(const std::optional<std::string>& home,
                                const std::array<std::string_view, N>& in_home,
                                const std::array<std::string_view, M>& of_system) {
  std::vector<std::string> paths(of_system.begin(), of_system.end());
  if (home && !home->empty()) {
    add(paths, *home, in_home);
  }
  return paths;
}

}  // namespace

std::vector<WatchedPlace> look_at_places(const std::vector<std::string>& paths,
                                         const PathResolver& resolve) {
  std::vector<WatchedPlace> found;
  for (const std::string& path : paths) {
    schema::Result<WalkedPath> walked = resolve(path);
    if (walked) {
      found.push_back({path, std::move(*walked)});
    }
  }
  return found;
}

std::vector<std::string> startup_files(const std::optional<std::string>& home) {
  return places(home, kStartup, kSystemStartup);
}

std::vector<std::string> credential_places(const std::optional<std::string>& home) {
  return places(home, kCredentials, kSystemCredentials);
}

std::vector<std::string> git_programs(const std::vector<std::string>& git_dirs,
                                      const std::optional<std::string>& home) {
  std::vector<std::string> paths;
  for (const std::string& directory : git_dirs) {
    add(paths, directory, std::array<std::string_view, 2>{"hooks", "config"});
  }
  if (home && !home->empty()) {
    add(paths, *home, std::array<std::string_view, 2>{".gitconfig", ".config/git/config"});
  }
  return paths;
}

std::vector<std::string> reached(const std::string& granted, const WalkedPath& walked,
                                 const std::vector<WatchedPlace>& places, bool inside) {
  std::vector<std::string> names;
  for (const WatchedPlace& place : places) {
    const std::vector<FileId>& way = place.walked.visited;
    const bool by_file = walked.end && std::find(way.begin(), way.end(), *walked.end) != way.end();
    const bool in_it = inside && path_covers(place.walked.resolved, granted);
    if (by_file || in_it || path_covers(granted, place.walked.resolved)) {
      names.push_back(place.path);
    }
  }
  return names;
}

}  // namespace aasm::planner
