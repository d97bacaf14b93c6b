#include "aasm/planner/starter.h"

#include <sys/stat.h>

#include <array>
#include <string_view>

namespace aasm::planner {
namespace {

constexpr std::array<std::string_view, 10> kPrograms = {
    "/usr",   "/bin", "/sbin",      "/lib",       "/lib32",
    "/lib64", "/opt", "/nix/store", "/gnu/store", "/snap"};

// Single files rather than /etc: keys and passwords of the machine stand there too.
constexpr std::array<std::string_view, 24> kSettings = {
    "/etc/alternatives", "/etc/bash.bashrc", "/etc/ca-certificates", "/etc/debian_version",
    "/etc/gai.conf",     "/etc/group",       "/etc/host.conf",       "/etc/hosts",
    "/etc/inputrc",      "/etc/ld.so.cache", "/etc/ld.so.conf",      "/etc/ld.so.conf.d",
    "/etc/locale.alias", "/etc/localtime",   "/etc/mime.types",      "/etc/nsswitch.conf",
    "/etc/os-release",   "/etc/passwd",      "/etc/pki/tls/certs",   "/etc/profile",
    "/etc/resolv.conf",  "/etc/ssl/certs",   "/etc/terminfo",        "/etc/timezone"};
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
    R"(# Policy of `aasm run` on this machine, written by `aasm init`. docs/policy-reference.md explains
# each key; `aasm run exec --dry-run -- PROG` shows what would be installed.
# A list that is not there says nothing; an empty list ([]) permits nothing.
apiVersion: agent-assembly/v1
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
    write:
      allow:
        - "${WORKDIR}"
)";

constexpr std::string_view kAfterWrite =
    R"(        # Shared with other users and programs; set TMPDIR to a directory of your own instead:
        # - /tmp
    execute:
      allow:
        - "${WORKDIR}"
)";

constexpr std::string_view kTail = R"(
  syscalls:
    allow: ["@default"]
    on_denial: errno

  # Only these variables are passed on, so keys and tokens of this shell stay here. A program that
  # needs one gets it by name.
  credentials:
    environment:
      allow: [PATH, HOME, LANG, TERM, USER, LOGNAME, TMPDIR]
    descriptors:
      allow: [0, 1, 2]

  # A statement that cannot be carried out on this host stops the run before the program starts.
  posture:
    default: required
)";

}  // namespace

bool path_exists(const std::string& path) {
  struct stat facts = {};
  return ::stat(path.c_str(), &facts) == 0;
}

std::string starter_policy(const PathExists& exists) {
  std::string text(kHead);
  add(text, kPrograms, exists);
  add(text, kSettings, exists);
  add(text, kBothDevices, exists);
  add(text, kReadDevices, exists);
  text += kAfterRead;
  add(text, kBothDevices, exists);
  text += kAfterWrite;
  add(text, kPrograms, exists);
  text += kTail;
  return text;
}

}  // namespace aasm::planner
