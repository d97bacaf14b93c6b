#pragma once

#include <string>

#include "fault.h"

namespace aasm::verifier {

// A private directory (mode 0700) for the copy of the target, removed with everything in it when
// the object goes.
class ScratchDir {
 public:
  // Below `parent`; empty: the directory of temporary files of this process ($TMPDIR, else /tmp).
  static Step<ScratchDir> make(const std::string& parent);

  ScratchDir(ScratchDir&& other) noexcept;
  ScratchDir& operator=(ScratchDir&& other) noexcept;
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  ~ScratchDir();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit ScratchDir(std::string path) : path_(std::move(path)) {}

  std::string path_;  // empty after a move
};

}  // namespace aasm::verifier
