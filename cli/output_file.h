#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::cli {

// A file that aasm writes after a run. Its directory is opened before the program starts, and the
// file gets its name when it is whole: written without one (O_TMPFILE), or with O_EXCL|O_NOFOLLOW
// under a temporary one where that cannot be. A path that the workload can change is never followed
// (docs/spec/ledger-format.md section 7). What takes the place of another file is renamed over it;
// a temporary file that a kill left in the moment before is removed by the next such write, in a
// directory that only its owner may enter. Elsewhere it stays.
class OutputFile {
 public:
  // Opens the directory of `path`. kNotFound, kPermissionDenied: it cannot be written there.
  static schema::Result<OutputFile> open(const std::string& path);

  // Writes `content` under its name, replacing what was there. May be called once.
  schema::Result<void> write(std::string_view content) const;

  // As write(), but kConflict when something has that name, which then stays as it is.
  schema::Result<void> write_new(std::string_view content) const;

  const std::string& path() const { return path_; }

 private:
  OutputFile(process::Fd directory, std::string name, std::string path)
      : directory_(std::move(directory)), name_(std::move(name)), path_(std::move(path)) {}

  enum class Standing : std::uint8_t { kReplaced, kKept };  // what has the name already

  schema::Result<void> write_with(std::string_view content, Standing standing) const;
  schema::Result<void> write_named(std::string_view content, Standing standing) const;
  schema::Result<void> move_into_place(const std::string& temporary, unsigned flags) const;

  process::Fd directory_;
  std::string name_;
  std::string path_;
};

}  // namespace aasm::cli
