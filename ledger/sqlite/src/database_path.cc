#include "database_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string_view>

namespace aasm::sqlite {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Error system_error(std::string_view what, int os_errno) {
  ErrorCode code = ErrorCode::kUnavailable;
  if (os_errno == ENOENT || os_errno == ENOTDIR) {
    code = ErrorCode::kNotFound;
  } else if (os_errno == EACCES || os_errno == EPERM || os_errno == EROFS) {
    code = ErrorCode::kPermissionDenied;
  } else if (os_errno == EEXIST) {
    code = ErrorCode::kConflict;
  } else if (os_errno == ENOSPC || os_errno == EDQUOT) {
    code = ErrorCode::kResourceExhausted;
  }
  return {code, std::string(what), os_errno};
}

// With a slash at its end.
Result<std::string> canonical_directory(const std::string& directory) {
  struct Freer {
    void operator()(char* text) const { free(text); }
  };
  const std::unique_ptr<char, Freer> resolved(realpath(directory.c_str(), nullptr));
  if (resolved == nullptr) {
    return system_error("resolving the directory of the database", errno);
  }
  const std::string path(resolved.get());
  return path.back() == '/' ? path : path + "/";
}

Result<void> create_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) {
    return system_error("creating the database file", errno);
  }
  close(fd);
  return {};
}

Result<void> check_regular_file(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) {
    return system_error("looking at the database file", errno);
  }
  if (S_ISLNK(status.st_mode)) {
    return Error(ErrorCode::kPermissionDenied, "the database file is a symbolic link");
  }
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::kPermissionDenied, "the database file is no regular file");
  }
  return {};
}

}  // namespace

Result<std::string> resolve_database_path(const std::string& path, OpenMode mode) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == ".." || path.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "the path names no file");
  }
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string full = AASM_TRY(canonical_directory(directory)) + name;
  if (full.size() > kMaxPathBytes) {
    return Error(ErrorCode::kInvalidArgument,
                 "the path of the database has " + std::to_string(full.size()) +
                     " bytes and SQLite opens at most " + std::to_string(kMaxPathBytes));
  }
  if (mode == OpenMode::kCreateNew) {
    AASM_TRY(create_file(full));
  } else {
    AASM_TRY(check_regular_file(full));
  }
  return full;
}

}  // namespace aasm::sqlite
