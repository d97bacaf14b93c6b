#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/plan_vocabulary.h"
#include "aasm/schema/record_boundary.h"
#include "aasm/schema/result.h"

namespace aasm::process {

// What identifies a state of a file: equal as long as nobody changed or replaced it.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;

  bool operator==(const FileIdentity&) const = default;
};

schema::Result<FileIdentity> identity_of(BorrowedFd fd);
schema::Result<FileIdentity> identity_of(const std::string& path);  // follows symlinks

// One file that takes part in starting a program, held open for reading.
struct ExecImage {
  schema::ImageRole role = schema::ImageRole::kBinary;
  std::string path;      // as the kernel is asked for it
  std::string resolved;  // without symlinks, as the kernel named it when the file was opened
  FileIdentity identity;
  Fd fd;
};

// A program that is ready to be started.
struct ExecTarget {
  std::string path;  // what to execute when `bound` is kPath
  schema::BoundBy bound = schema::BoundBy::kPath;
  // The program first, then its interpreters in the kernel's order. An interpreter that itself
  // looks for a program (env) is the last one known: what it starts is not part of the list.
  std::vector<ExecImage> images;

  const ExecImage& program() const { return images.front(); }
};

// Why there is nothing to start.
struct TargetRefusal {
  schema::LaunchRefusal reason = schema::LaunchRefusal::kProgramNotFound;  // or ...NotExecutable
  int os_errno = 0;
  std::string path;  // of the file that is to blame
  std::string detail;
};

// Exactly one of the two is set.
struct TargetResolution {
  std::optional<ExecTarget> target;
  std::optional<TargetRefusal> refusal;
};

// How deep `#!` may be nested: interpreters behind one program.
inline constexpr std::size_t kMaxInterpreters = 4;

// Finds the program as execvp(3) does and opens what the kernel will open. `search_path` is the
// value of PATH; without one execvp's default, /bin:/usr/bin, is searched. A name with a slash is
// taken as it is, relative to the working directory. Other than execvp, a file without "#!" that is
// not ELF is not handed to /bin/sh. A file that can be executed but not read is refused: it cannot
// be hashed. An Error means that the question could not be answered.
schema::Result<TargetResolution> resolve_target(const std::string& program,
                                                const std::optional<std::string>& search_path);

// Whether the image's path still leads to the file that was opened, unchanged.
bool unchanged(const ExecImage& image);

}  // namespace aasm::process
