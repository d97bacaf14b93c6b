#pragma once

#include <signal.h>

#include <optional>
#include <string>

#include "fault.h"
#include "fd.h"

namespace aasm::verifier {

// Blocks the signals that end a program from outside in this thread while it lives.
class EndingSignalsBlocked {
 public:
  EndingSignalsBlocked();
  ~EndingSignalsBlocked();
  EndingSignalsBlocked(const EndingSignalsBlocked&) = delete;
  EndingSignalsBlocked& operator=(const EndingSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

// A file of ours without a name (O_TMPFILE), so that nothing is left of it however the program
// ends. `name` is its path where the file system has no such files.
struct ScratchFile {
  Fd fd;
  std::string name;
};

// Where the private copy of the target goes. Files are made without names; SQLite opens by name, so
// the names are there, in a directory of mode 0700, from give_name() to forget_names(): hold
// EndingSignalsBlocked between them. The object removes the directory when it goes.
class ScratchDir {
 public:
  // Below `parent`; empty: the directory of temporary files of this process ($TMPDIR, else /tmp).
  static Step<ScratchDir> make(const std::string& parent);

  ScratchDir(ScratchDir&& other) noexcept;
  ScratchDir& operator=(ScratchDir&& other) noexcept;
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  ~ScratchDir();

  // A new empty file, for reading and writing.
  Step<ScratchFile> create();
  // Makes `file` stand as `name` in the directory. The path, or what went wrong.
  Step<std::string> give_name(const ScratchFile& file, const std::string& name);
  // The path of a file that somebody else makes, between the same two calls.
  Step<std::string> path_for(const std::string& name);
  // Removes all names with the directory; what is open stays open.
  void forget_names();

 private:
  explicit ScratchDir(std::string base) : base_(std::move(base)) {}
  std::optional<Fault> make_directory();

  std::string base_;
  std::string path_;  // of the directory; empty while there is none
  int created_ = 0;
};

}  // namespace aasm::verifier
