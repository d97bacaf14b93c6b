#pragma once

#include <filesystem>
#include <string>

#include "support/temp_dir.h"

namespace aasm::planner::testing {

// The directory of one test under the name that the planner finds for it: text, free of symbolic
// links.
class TempDir {
 public:
  const std::string& path() const { return path_; }

 private:
  aasm::test::TempDir dir_;
  std::string path_ = std::filesystem::canonical(dir_.path()).string();
};

}  // namespace aasm::planner::testing
