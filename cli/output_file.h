#pragma once

#include <string>
#include <string_view>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::cli {

// A file that aasm writes after a run. Its directory is opened before the program starts, and the
// file is made with O_EXCL|O_NOFOLLOW under a temporary name and renamed when it is whole: a path
// that the workload can change is never followed (docs/spec/ledger-format.md section 7).
class OutputFile {
 public:
  // Opens the directory of `path`. kNotFound, kPermissionDenied: it cannot be written there.
  static schema::Result<OutputFile> open(const std::string& path);

  // Writes `content` and moves it to its name, replacing what was there. May be called once.
  schema::Result<void> write(std::string_view content) const;

  // As write(), but kConflict when something has that name, which then stays as it is.
  schema::Result<void> write_new(std::string_view content) const;

  const std::string& path() const { return path_; }

 private:
  OutputFile(process::Fd directory, std::string name, std::string path)
      : directory_(std::move(directory)), name_(std::move(name)), path_(std::move(path)) {}

  schema::Result<void> write_with(std::string_view content, unsigned rename_flags) const;

  process::Fd directory_;
  std::string name_;
  std::string path_;
};

}  // namespace aasm::cli
