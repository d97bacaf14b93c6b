#include "canary_objects.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "aasm/process/fd.h"

namespace aasm::backend_native {
namespace {

using schema::Result;

Result<void> ensure_file(const process::Fd& directory, const char* name, mode_t mode) {
  // Not opened for writing, so that an object made earlier by root serves a later run as it is.
  const process::Fd existing(::openat(directory.get(), name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (existing) {
    struct stat status {};
    if (::fstat(existing.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      return schema::Error(schema::ErrorCode::kConflict,
                           std::string("canary object ") + name + " is no regular file");
    }
    return {};
  }
  const process::Fd made(
      ::openat(directory.get(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!made) {
    const int os_errno = errno;
    return os_errno == EEXIST
               ? Result<void>{}  // another run was faster
               : process::system_error(std::string("canary object ") + name, os_errno);
  }
  // A umask of 0777 must not make them untouchable for every later run.
  return ::fchmod(made.get(), mode) == 0
             ? Result<void>{}
             : process::system_error(std::string("canary object ") + name, errno);
}

}  // namespace

Result<void> ensure_canary_objects(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0700) == 0 ? ::chmod(directory.c_str(), 0700) != 0
                                            : errno != EEXIST) {
    return process::system_error("directory of canary objects", errno);
  }
  const process::Fd opened(
      ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) {
    return process::system_error("directory of canary objects", errno);
  }
  AASM_TRY(ensure_file(opened, "read", 0600));
  AASM_TRY(ensure_file(opened, "write", 0600));
  return ensure_file(opened, "exec", 0700);
}

std::string canary_read_path(const std::string& directory) {
  return directory + "/read";
}
std::string canary_write_path(const std::string& directory) {
  return directory + "/write";
}
std::string canary_exec_path(const std::string& directory) {
  return directory + "/exec";
}

}  // namespace aasm::backend_native
