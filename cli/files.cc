#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aasm/process/fd.h"

namespace aasm::cli {

using schema::Error;
using schema::ErrorCode;

namespace {

// Whether nobody but the effective user and root may write to what `info` is of. The sticky bit of
// a directory is not enough: the owner of a file beside could be anybody.
bool is_own(const struct stat& info) {
  return (info.st_uid == geteuid() || info.st_uid == 0) &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

schema::Result<void> require_own(const process::Fd& file, const std::string& path) {
  struct stat info {};
  if (fstat(file.get(), &info) == 0 && info.st_uid != geteuid() && info.st_uid != 0) {
    return Error(ErrorCode::kPermissionDenied,
                 path + " belongs to user " + std::to_string(info.st_uid) +
                     ", so it is not believed: run this as that user, or name a trust file with "
                     "--trust");
  }
  if (fstat(file.get(), &info) != 0 || !is_own(info)) {
    return Error(ErrorCode::kPermissionDenied,
                 path +
                     " can be changed by others than you, so it is not believed: take their "
                     "write permission away (chmod go-w), or name a trust file with --trust");
  }
  return {};
}

schema::Result<std::string> read_regular(const process::Fd& file, const std::string& path,
                                         std::size_t max_bytes) {
  struct stat info {};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, "not a regular file: " + path);
  }
  return AASM_TRY_CONTEXT(process::read_all(file.borrow(), max_bytes), "cannot read " + path);
}

constexpr int kReadFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;

}  // namespace

schema::Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes) {
  const process::Fd file =
      AASM_TRY_CONTEXT(process::open_file(path, kReadFlags), "cannot read " + path);
  return read_regular(file, path, max_bytes);
}

schema::Result<std::string> read_own_file(const std::string& path, std::size_t max_bytes) {
  const std::string parent = path.substr(0, path.rfind('/') + 1);
  const process::Fd directory =
      AASM_TRY_CONTEXT(process::open_file(parent.empty() ? "." : parent, O_PATH | O_DIRECTORY),
                       "cannot read " + path);
  AASM_TRY(require_own(directory, parent));
  const process::Fd file =
      AASM_TRY_CONTEXT(process::open_file(path, kReadFlags), "cannot read " + path);
  AASM_TRY(require_own(file, path));
  return read_regular(file, path, max_bytes);
}

}  // namespace aasm::cli
