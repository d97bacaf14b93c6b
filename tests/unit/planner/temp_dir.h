#pragma once

#include <system_error>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

namespace aasm::planner::testing {

// A directory of its own for one test, removed at its end. path() is free of symbolic links.
class TempDir {
 public:
  TempDir() {
    std::string name = ::testing::TempDir() + "aasm-planner-XXXXXX";
    const char* made = ::mkdtemp(name.data());
    EXPECT_NE(made, nullptr);
    path_ = std::filesystem::canonical(made == nullptr ? "." : made).string();
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace aasm::planner::testing
