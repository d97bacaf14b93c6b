#include "path_search.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace aasm::process {

namespace {

// execvp(3) looks into the next directory after these; any other error ends its search.
bool means_look_further(int os_errno) {
  return os_errno == EACCES || os_errno == ENOENT || os_errno == ESTALE || os_errno == ENOTDIR ||
         os_errno == ENODEV || os_errno == ETIMEDOUT;
}

}  // namespace

int executable_errno(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    return ENOENT;
  }
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    return errno;
  }
  if (!S_ISREG(info.st_mode)) {
    return EACCES;
  }
  return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

FoundProgram find_program(const std::string& program,
                          const std::optional<std::string>& search_path) {
  if (program.empty()) {
    return {"", ENOENT};
  }
  if (program.find('/') != std::string::npos) {
    return {program, executable_errno(program)};
  }
  const std::string path = search_path.value_or("/bin:/usr/bin");
  bool denied = false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    // An empty entry is the working directory.
    const std::string candidate = end == at ? program : path.substr(at, end - at) + "/" + program;
    const int os_errno = executable_errno(candidate);
    if (os_errno == 0) {
      return {candidate, 0};
    }
    if (!means_look_further(os_errno)) {
      return {candidate, os_errno};
    }
    denied = denied || os_errno == EACCES;
    at = end + 1;
  }
  return {"", denied ? EACCES : ENOENT};
}

}  // namespace aasm::process
