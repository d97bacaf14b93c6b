#include "scratch_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <system_error>

#include <cstring>
#include <filesystem>
#include <utility>

namespace aasm::verifier {

Step<ScratchDir> ScratchDir::make(const std::string& parent) {
  std::string base = parent;
  if (base.empty()) {
    std::error_code error;
    base = std::filesystem::temp_directory_path(error).string();
    if (error) {
      base = "/tmp";
    }
  }
  // mkdtemp(3) makes it with mode 0700.
  std::string pattern = base + "/aasm-verify-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return Fault{FindingCode::kScratchUnusable,
                 "making a directory in " + base + ": " + std::strerror(errno)};
  }
  return ScratchDir(std::move(pattern));
}

ScratchDir::ScratchDir(ScratchDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

ScratchDir& ScratchDir::operator=(ScratchDir&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

ScratchDir::~ScratchDir() {
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
}

}  // namespace aasm::verifier
