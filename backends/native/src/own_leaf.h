#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "aasm/schema/result.h"

namespace aasm::backend_native {

// Writes to a file of a control group, which takes a value whole or not at all.
schema::Result<void> write_to_group(const std::string& path, const std::string& value);

// A control group of version 2 for this process alone, below the one that it stood in, so that
// others can be limited beside it (cgroups(7), "no internal processes"). With the value it goes
// back, and the group and what it made for it are taken away; not where somebody has made groups
// there meanwhile, which would lose their controller.
class OwnLeaf {
 public:
  OwnLeaf() = default;
  // Goes into a group below `folder`, this process's own.
  static schema::Result<OwnLeaf> enter(std::string folder, std::string_view controller);
  OwnLeaf(OwnLeaf&& other) noexcept
      : folder_(std::exchange(other.folder_, {})),
        controller_(std::exchange(other.controller_, {})) {}
  OwnLeaf& operator=(OwnLeaf&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(controller_, other.controller_);
    return *this;
  }
  OwnLeaf(const OwnLeaf&) = delete;
  OwnLeaf& operator=(const OwnLeaf&) = delete;
  ~OwnLeaf();

  static constexpr std::string_view kPrefix = "aasm-supervisor-";

 private:
  bool is_only_child() const;
  std::string leaf() const;

  std::string folder_;
  std::string controller_;
};

}  // namespace aasm::backend_native
