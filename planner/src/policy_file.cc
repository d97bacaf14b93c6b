#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "aasm/planner/policy_resolve.h"

namespace aasm::planner {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Closes on destruction; this module may not use the process room's type.
class OpenFile {
 public:
  explicit OpenFile(int fd) : fd_(fd) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { ::close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

Error os_error(const char* what, int number) {
  return Error(ErrorCode::kPermissionDenied,
               std::string(what) + ": " + std::generic_category().message(number), number);
}

Result<std::string> read_whole(int fd, std::size_t max_bytes) {
  std::string bytes;
  std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return os_error("cannot be read", errno);
    }
    if (got == 0) {
      return bytes;
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
    if (bytes.size() > max_bytes) {
      return Error(ErrorCode::kResourceExhausted,
                   "is larger than " + std::to_string(max_bytes) + " bytes");
    }
  }
}

}  // namespace

Result<std::optional<std::string>> read_policy_file(const std::string& path,
                                                    std::size_t max_bytes) {
  // O_NONBLOCK: a FIFO in the policy's place must not hold the launch up.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) {
    const int number = errno;
    if (number == ENOENT || number == ENOTDIR) {
      return std::optional<std::string>();
    }
    return os_error("cannot be opened", number);
  }
  const OpenFile file(fd);
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0) {
    return os_error("cannot be looked at", errno);
  }
  if (!S_ISREG(facts.st_mode)) {
    return Error(ErrorCode::kMalformed, S_ISDIR(facts.st_mode)
                                            ? "is a directory; name the file of one policy"
                                            : "is not a regular file");
  }
  return std::optional<std::string>(AASM_TRY(read_whole(file.get(), max_bytes)));
}

}  // namespace aasm::planner
