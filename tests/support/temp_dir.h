#pragma once

#include <stdlib.h>
#include <system_error>

#include <filesystem>
#include <string>

namespace aasm::test {

// A private directory (mode 0700), removed with everything in it when the object goes.
class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "aasm-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      abort();
    }
    path_ = pattern;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace aasm::test
