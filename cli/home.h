#pragma once

#include <optional>
#include <string>

#include "aasm/schema/result.h"

namespace aasm::cli {

// Where the state of this user lives: $AASM_HOME, else ~/.aasm. Absolute, symlink-free as far as
// it exists. Making the object touches nothing.
class Home {
 public:
  static schema::Result<Home> locate();

  const std::string& root() const { return root_; }
  std::string file(const char* name) const { return root_ + "/" + name; }
  std::string ledger() const { return file("ledger.db"); }
  std::string policy() const { return file("policy.yaml"); }
  std::string keys() const { return file("keys"); }
  std::string heads() const { return file("heads"); }
  std::string trust() const { return file("trust"); }
  std::string trust_keys() const { return file("trust.keys"); }
  std::string canary() const { return file("canary"); }
  // Fails where `aasm init` has not been, and where this user may not look.
  schema::Result<void> require_initialised() const;

 private:
  explicit Home(std::string root) : root_(std::move(root)) {}
  std::string root_;
};

// The running program and the launch helper beside it (bin/, or ../libexec/aasm/).
schema::Result<std::string> own_executable();
schema::Result<std::string> find_helper();

// Absolute form of a path given on the command line, before the directory is changed.
std::string absolute_path(const std::string& path);
std::string absolute_or_empty(const std::string& path);  // of an option that need not be given

// Changes into the directory, unless `wanted` is empty, and gives its path without links.
schema::Result<std::string> enter_working_dir(const std::string& wanted);

std::optional<std::string> environment_variable(const char* name);

}  // namespace aasm::cli
