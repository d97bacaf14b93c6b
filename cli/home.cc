#include "home.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

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
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr && entry->pw_dir != nullptr ? entry->pw_dir : "";
}

}  // namespace

std::string absolute_path(const std::string& path) {
  std::error_code code;
  const fs::path absolute = fs::absolute(path, code);
  return code ? path : absolute.lexically_normal().string();
}

Result<Home> Home::locate() {
  std::string root;
  if (const char* stated = std::getenv("AASM_HOME"); stated != nullptr && stated[0] != '\0') {
    root = absolute_path(stated);
  } else if (const std::string home = home_directory(); !home.empty()) {
    root = home + "/.aasm";
  } else {
    return Error(ErrorCode::kNotFound, "no home directory; set AASM_HOME");
  }
  std::error_code code;
  const fs::path real = fs::weakly_canonical(root, code);
  return Home(code ? root : real.string());
}

bool Home::initialised() const {
  std::error_code code;
  return fs::exists(ledger(), code) && fs::exists(keys(), code);
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
