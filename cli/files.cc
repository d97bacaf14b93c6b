#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "aasm/process/fd.h"

namespace aasm::cli {

using schema::Error;
using schema::ErrorCode;

schema::Result<std::string> read_small_file(const std::string& path, std::size_t max_bytes) {
  const process::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    const ErrorCode code = errno == ENOENT   ? ErrorCode::kNotFound
                           : errno == EACCES ? ErrorCode::kPermissionDenied
                                             : ErrorCode::kUnavailable;
    return Error(code, "cannot read " + path, errno);
  }
  struct stat info {};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, "not a regular file: " + path);
  }
  std::string content;
  std::string chunk(65536, '\0');
  while (true) {
    const ssize_t got = read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return Error(ErrorCode::kUnavailable, "cannot read " + path, errno);
    }
    if (got == 0) {
      return content;
    }
    content.append(chunk, 0, static_cast<std::size_t>(got));
    if (content.size() > max_bytes) {
      return Error(ErrorCode::kResourceExhausted, "too large: " + path);
    }
  }
}

}  // namespace aasm::cli
