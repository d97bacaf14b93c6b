#include "aasm/planner/starter.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "aasm/planner/paths.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/json_write.h"
#include "aasm/schema/utf8.h"

namespace aasm::planner {
namespace {

constexpr std::array<std::string_view, 10> kPrograms = {
    "/usr",   "/bin", "/sbin",      "/lib",       "/lib32",
    "/lib64", "/opt", "/nix/store", "/gnu/store", "/snap"};

// Single files rather than /etc: keys and passwords of the machine stand there too.
constexpr std::array<std::string_view, 26> kSettings = {
    "/etc/alternatives",  "/etc/bash.bashrc",  "/etc/ca-certificates", "/etc/debian_version",
    "/etc/gai.conf",      "/etc/gitconfig",    "/etc/group",           "/etc/host.conf",
    "/etc/hosts",         "/etc/inputrc",      "/etc/ld.so.cache",     "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",  "/etc/locale.alias", "/etc/localtime",       "/etc/mime.types",
    "/etc/nsswitch.conf", "/etc/os-release",   "/etc/passwd",          "/etc/pki/tls/certs",
    "/etc/profile",       "/etc/resolv.conf",  "/etc/ssl/certs",       "/etc/ssl/openssl.cnf",
    "/etc/terminfo",      "/etc/timezone"};
constexpr std::array<std::string_view, 4> kReadDevices = {"/dev/zero", "/dev/random",
                                                          "/dev/urandom", "/dev/full"};
constexpr std::array<std::string_view, 2> kBothDevices = {"/dev/null", "/dev/tty"};

template <std::size_t N>
void add(std::string& text, const std::array<std::string_view, N>& paths,
         const PathExists& exists) {
  for (const std::string_view path : paths) {
    if (exists(std::string(path))) {
      text.append("        - ").append(path).append("\n");
    }
  }
}

constexpr std::string_view kHead =
    R"(# Policy of `aasm run` on this machine, written by aasm. docs/policy-reference.md explains each key;
# `aasm policy check` says what is risky here, `aasm run exec --dry-run -- PROG` what would be
# installed. A list that is not there says nothing; an empty list ([]) permits nothing.
)";

// CACHE stands for the directory.
constexpr std::string_view kCacheText = R"(#
# Tools cache below the home directory, which this policy does not let them write. Point them into
# the working directory before a run:
#
#   mkdir -p .agent-cache/tmp
#   export XDG_CACHE_HOME="$PWD/.agent-cache" TMPDIR="$PWD/.agent-cache/tmp"
)";

constexpr std::string_view kEnvelope = R"(apiVersion: agent-assembly/v1
kind: Policy
metadata:
  name: starter
spec:
  filesystem:
    read:
      allow:
        - "${WORKDIR}"
)";

constexpr std::string_view kAfterRead =
    R"(        # Many programs read /proc. It also shows the command lines of other processes:
        # - /proc
        # For programs that make a terminal of their own (script, tmux, expect) both of these, here and
        # in the list to write. They let the agent read what you type in your other terminals, too.
        # - /dev/ptmx
        # - /dev/pts
    write:
      allow:
        - "${WORKDIR}"
)";

constexpr std::string_view kAfterWrite =
    R"(        # Shared with other users and programs; set TMPDIR to a directory of your own instead:
        # - /tmp
        # - /dev/ptmx
        # - /dev/pts
    execute:
      allow:
        - "${WORKDIR}"
)";

constexpr std::string_view kSyscalls = R"(
  syscalls:
    allow: ["@default"]
    on_denial: errno

  # Only these variables are passed on, so keys and tokens of this shell stay here. A program that
  # needs one gets it by name.
  credentials:
    environment:
      allow:
        [)";

constexpr std::string_view kTail = R"(]
    descriptors:
      allow: [0, 1, 2]

  # A statement that cannot be carried out on this host stops the run before the program starts.
  posture:
    default: required
)";

constexpr std::array<std::string_view, 9> kVariables = {
    "PATH", "HOME", "LANG", "LC_ALL", "TERM", "USER", "LOGNAME", "TMPDIR", "XDG_CACHE_HOME"};

// A path as YAML text; empty when it cannot be written as one.
std::string yaml_path(const std::string& path, const std::string& home) {
  if (!schema::is_valid_utf8(path)) {
    return "";
  }
  const bool below = !home.empty() && home != "/" && path.starts_with(home + "/");
  const std::string text = below ? "${HOME}" + path.substr(home.size()) : path;
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789/._-+") == std::string::npos;
  return plain ? text : schema::json_write(schema::JsonValue(text));
}

// Those that the system's own directories do not hold already.
std::vector<std::string> beyond_system(const std::vector<std::string>& paths) {
  std::vector<std::string> rest;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(rest), [](const std::string& path) {
    return std::none_of(kPrograms.begin(), kPrograms.end(),
                        [&](std::string_view known) { return path_covers(known, path); });
  });
  return rest;
}

void add_all(std::string& text, const std::vector<std::string>& paths, const std::string& home) {
  for (const std::string& path : paths) {
    const std::string written = yaml_path(path, home);
    text += written.empty() ? "" : "        - " + written + "\n";
  }
}

void add_commented(std::string& text, const char* comment, const std::vector<std::string>& paths,
                   const std::string& home) {
  text += paths.empty() ? "" : "        # " + std::string(comment) + "\n";
  add_all(text, paths, home);
}

void add_caches(std::string& text, const Workspace& workspace) {
  if (workspace.caches.empty()) {
    return;
  }
  text += kCacheText;
  for (const CacheVariable& one : workspace.caches) {
    text += "#   export " + one.name + "=\"$PWD/.agent-cache/" + one.directory + "\"\n";
  }
  if (workspace.git_inside) {
    text += "#   echo .agent-cache >> .git/info/exclude\n";
  }
}

void add_variables(std::string& text, const Workspace& workspace) {
  std::vector<std::string> names(kVariables.begin(), kVariables.end());
  for (const CacheVariable& one : workspace.caches) {
    names.push_back(one.name);
  }
  names.insert(names.end(), workspace.variables.begin(), workspace.variables.end());
  std::size_t width = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool full = width + names[i].size() > 84;
    text += i == 0 ? "" : full ? ",\n         " : ", ";
    text += names[i];
    width = full ? names[i].size() : width + names[i].size() + 2;
  }
}

}  // namespace

bool path_exists(const std::string& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0;
}

std::string starter_policy(const PathExists& exists, const Workspace& workspace) {
  const std::string& home = workspace.home;
  const std::vector<std::string> programs = beyond_system(workspace.programs);
  std::string text(kHead);
  add_caches(text, workspace);
  text += kEnvelope;
  add(text, kPrograms, exists);
  add_commented(text, "Toolchains found on PATH:", programs, home);
  add_commented(text, "Settings and caches of tools:", workspace.readable, home);
  add_commented(text, "The repository of this worktree:", workspace.git_readable, home);
  add(text, kSettings, exists);
  add(text, kBothDevices, exists);
  add(text, kReadDevices, exists);
  text += kAfterRead;
  if (workspace.git_inside) {
    text +=
        "        # With it .git/hooks and .git/config, which git runs outside at the next "
        "command:\n"
        "        # look at them before you use git here (`git -c core.hooksPath=/dev/null`).\n";
  }
  add_commented(text, "What a commit writes; the repository's hooks and settings are left out:",
                workspace.git_writable, home);
  add(text, kBothDevices, exists);
  text += kAfterWrite;
  add(text, kPrograms, exists);
  add_all(text, programs, home);
  text += kSyscalls;
  add_variables(text, workspace);
  text += kTail;
  return text;
}

}  // namespace aasm::planner
