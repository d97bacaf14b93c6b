#include "home.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

namespace aasm::cli {
namespace {

namespace fs = std::filesystem;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

std::string home_directory() {
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/') {
    return home;
  }
  // Not getpwuid(3): it loads the host's name services into this process, which a static executable
  // cannot do safely.
  const std::unique_ptr<FILE, int (*)(FILE*)> users(std::fopen("/etc/passwd", "re"), std::fclose);
  while (const passwd* entry = users ? fgetpwent(users.get()) : nullptr) {
    if (entry->pw_uid == geteuid()) {
      return entry->pw_dir;
    }
  }
  return "";
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code);
  return code ? path : absolute.lexically_normal().string();
}

std::string absolute_or_empty(const std::string& path) {
  return path.empty() ? path : absolute_path(path);
}

Result<std::string> enter_working_dir(const std::string& wanted) {
  if (!wanted.empty() && chdir(wanted.c_str()) != 0) {
    return Error(ErrorCode::kInvalidArgument, "--workdir " + wanted, errno);
  }
  std::error_code code;
  const fs::path here = fs::current_path(code);
  if (code) {
    return Error(ErrorCode::kUnavailable, "the working directory has no path", code.value());
  }
  return here.string();
}

std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

Result<Home> Home::locate() {
  std::string root;
  if (const char* stated = std::getenv("AASM_HOME"); stated != nullptr && stated[0] != '\0') {
    root = absolute_path(stated);
  } else if (const std::string home = home_directory(); !home.empty()) {
    root = home + "/.aasm";
  } else {
    return Error(ErrorCode::kNotFound,
                 "neither HOME nor /etc/passwd names a home directory; set AASM_HOME");
  }
  std::error_code code;
  const fs::path real = fs::weakly_canonical(root, code);
  return Home(code ? root : real.string());
}

Result<void> Home::require_initialised() const {
  for (const std::string& path : {ledger(), keys()}) {
    std::error_code code;
    const bool there = fs::exists(path, code);
    if (code) {
      return Error(ErrorCode::kPermissionDenied,
                   "cannot look into " + root_ + " (AASM_HOME names another place)", code.value());
    }
    if (!there) {
      return Error(ErrorCode::kNotFound,
                   "not_initialised: there is no ledger in " + root_ + "; run 'aasm init' first");
    }
  }
  return {};
}

Result<std::string> own_executable() {
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  if (code) {
    return Error(ErrorCode::kUnavailable, "cannot read /proc/self/exe (is /proc mounted here?)",
                 code.value());
  }
  return self.string();
}

Result<std::string> find_helper() {
  const fs::path self = AASM_TRY(own_executable());
  const fs::path folder = self.parent_path();
  const std::array<fs::path, 2> places = {folder / "aasm-launch-helper",
                                          folder.parent_path() / "libexec/aasm/aasm-launch-helper"};
  for (const fs::path& place : places) {
    if (access(place.c_str(), X_OK) == 0) {
      return place.string();
    }
  }
  return Error(ErrorCode::kNotFound, "the launch helper is missing; expected " +
                                         places[0].string() + ": install aasm again");
}

}  // namespace aasm::cli
