#include "aasm/planner/workspace.h"

#include <array>
#include <string_view>
#include <utility>

#include "aasm/planner/paths.h"

namespace aasm::planner {
namespace {

struct Cache {
  std::string_view tool;  // a program on PATH
  std::string_view variable;
  std::string_view directory;
};
constexpr std::array<Cache, 10> kCaches = {{{"pip", "PIP_CACHE_DIR", "pip"},
                                            {"uv", "UV_CACHE_DIR", "uv"},
                                            {"npm", "npm_config_cache", "npm"},
                                            {"yarn", "YARN_CACHE_FOLDER", "yarn"},
                                            {"go", "GOCACHE", "go-build"},
                                            {"go", "GOMODCACHE", "go-mod"},
                                            {"cargo", "CARGO_HOME", "cargo"},
                                            {"ccache", "CCACHE_DIR", "ccache"},
                                            {"gradle", "GRADLE_USER_HOME", "gradle"},
                                            {"deno", "DENO_DIR", "deno"}}};

constexpr std::array<std::string_view, 24> kTools = {
    "python3", "python", "pip",  "uv",    "poetry", "node",  "npm", "yarn",
    "pnpm",    "deno",   "bun",  "go",    "rustc",  "cargo", "gcc", "g++",
    "clang",   "cmake",  "make", "ninja", "java",   "ruby",  "git", "rg"};

// Where a version manager keeps what its programs on PATH only stand for: part of the path of a
// program, and the directory of the home that it needs.
struct Manager {
  std::string_view sign;
  std::string_view needs;
};
constexpr std::array<Manager, 8> kManagers = {{{"/.cargo/bin", ".cargo/bin"},
                                               {"/.cargo/bin", ".rustup"},
                                               {"/.pyenv/", ".pyenv"},
                                               {"/.nvm/", ".nvm/versions"},
                                               {"/.rbenv/", ".rbenv"},
                                               {"/.volta/", ".volta"},
                                               {"/.asdf/", ".asdf"},
                                               {"/.local/share/mise/", ".local/share/mise"}}};

constexpr std::array<std::string_view, 7> kSettings = {
    ".gitconfig",      ".config/git/config", ".config/git/ignore", ".cargo/config.toml",
    ".cargo/registry", ".cargo/git",         "go/pkg/mod"};

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

class Survey {
 public:
  explicit Survey(const WorkspaceHost& host) : host_(host) {}

  Workspace run() {
    found_.home = host_.home.value_or("");
    for (const std::string_view tool : kTools) {
      look_for(std::string(tool));
    }
    for (const Cache& cache : kCaches) {
      if (!program_named(std::string(cache.tool)).empty()) {
        found_.caches.push_back({std::string(cache.variable), std::string(cache.directory)});
      }
    }
    if (host_.exists(found_.home + "/.rustup")) {
      found_.variables.emplace_back("RUSTUP_HOME");
    }
    for (const std::string_view name : kSettings) {
      const std::string path = found_.home + "/" + std::string(name);
      if (!found_.home.empty() && host_.exists(path)) {
        found_.readable.push_back(path);
      }
    }
    repository();
    return std::move(found_);
  }

 private:
  std::string program_named(const std::string& tool) const {
    for (const std::string& directory : host_.program_path) {
      std::string path = directory;
      path.append("/").append(tool);
      if (!directory.empty() && directory.front() == '/' && host_.exists(path)) {
        return path;
      }
    }
    return "";
  }

  void look_for(const std::string& tool) {
    const std::string path = program_named(tool);
    if (path.empty()) {
      return;
    }
    const schema::Result<WalkedPath> walked = host_.resolve(path);
    if (!walked || !walked->exists) {
      return;
    }
    if (!managed(path) && !managed(walked->resolved)) {
      add_program(directory_of(path));
      add_program(installation_of(walked->resolved));
    }
  }

  bool managed(const std::string& path) {
    bool any = false;
    for (const Manager& manager : kManagers) {
      const std::string needs = found_.home + "/" + std::string(manager.needs);
      if (!found_.home.empty() && path.starts_with(found_.home + "/") &&
          path.find(manager.sign) != std::string::npos && host_.exists(needs)) {
        add_program(needs);
        any = true;
      }
    }
    return any;
  }

  // What a program was installed with: the directory above its bin, unless that holds more than an
  // installation.
  std::string installation_of(const std::string& program) const {
    const std::string bin = directory_of(program);
    const std::string above = directory_of(bin);
    const bool wide = above == "/" || (!found_.home.empty() && path_covers(above, found_.home)) ||
                      above == found_.home + "/.local" || path_covers(above, host_.workdir);
    return name_of(bin) == "bin" && !wide ? above : bin;
  }

  void add_program(const std::string& path) {
    for (const std::string& known : found_.programs) {
      if (path_covers(known, path)) {
        return;
      }
    }
    if (!host_.workdir.empty() && path_covers(host_.workdir, path)) {
      return;
    }
    found_.programs.push_back(path);
  }

  void repository() {
    const std::vector<std::string> directories = confirmed_git_directories(host_);
    if (directories.empty()) {
      return;
    }
    found_.git_inside = path_covers(host_.workdir, directories.front());
    if (found_.git_inside) {
      return;
    }
    // A submodule has all of its repository to itself; of a worktree's, hooks and settings stay out
    // of the agent's reach.
    if (directories.size() == 1) {
      found_.git_readable.push_back(directories.front());
      found_.git_writable.push_back(directories.front());
      return;
    }
    found_.git_readable.push_back(directories.back());
    found_.git_writable.push_back(directories.front());
    for (const char* part : {"objects", "refs", "logs"}) {
      const std::string path = directories.back() + "/" + part;
      if (host_.exists(path)) {
        found_.git_writable.push_back(path);
      }
    }
  }

  const WorkspaceHost& host_;
  Workspace found_;
};

}  // namespace

Workspace survey_workspace(const WorkspaceHost& host) {
  return Survey(host).run();
}

}  // namespace aasm::planner
