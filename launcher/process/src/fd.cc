#include "aasm/process/fd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace aasm::process {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

ErrorCode code_of(int os_errno) {
  switch (os_errno) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
    case ECHILD:
      return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kPermissionDenied;
    case ENOSYS:
    case EOPNOTSUPP:
      return ErrorCode::kUnsupported;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kResourceExhausted;
    case EAGAIN:
    case EBUSY:
    case ETIMEDOUT:
      return ErrorCode::kUnavailable;
    case EEXIST:
    case ESTALE:
      return ErrorCode::kConflict;
    case EINVAL:
    case ENAMETOOLONG:
    case ELOOP:
    case ENOEXEC:
      return ErrorCode::kInvalidArgument;
  }
  return ErrorCode::kInternal;
}

}  // namespace

Error system_error(const std::string& what, int os_errno) {
  return Error(code_of(os_errno), what + ": " + std::generic_category().message(os_errno),
               os_errno);
}

void Fd::reset(int fd) noexcept {
  const int old = std::exchange(fd_, fd);
  if (old >= 0) {
    // Linux has closed the descriptor even when close(2) reports EINTR; there is nothing to retry.
    ::close(old);
  }
}

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return system_error("pipe2", errno);
  }
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<SocketPair> make_seqpacket_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return system_error("socketpair", errno);
  }
  return SocketPair{Fd(ends[0]), Fd(ends[1])};
}

Result<Fd> make_memfd(const std::string& name) {
  // No MFD_NOEXEC_SEAL: Linux 6.1 answers EINVAL to it.
  Fd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) {
    return system_error("memfd_create", errno);
  }
  return fd;
}

Result<void> add_seals(BorrowedFd fd, int seals) {
  if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) {
    return system_error("sealing a memfd", errno);
  }
  return {};
}

Result<Fd> make_sealed_memfd(const std::string& name, schema::ByteView bytes) {
  Fd fd = AASM_TRY(make_memfd(name));
  AASM_TRY_CONTEXT(write_all(fd.borrow(), bytes), "filling a memfd");
  AASM_TRY(add_seals(fd.borrow(), F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL));
  return fd;
}

Result<Fd> open_file(const std::string& path, int flags) {
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC));
  if (!fd) {
    return system_error("open", errno);
  }
  return fd;
}

Result<Fd> duplicate(BorrowedFd fd) {
  Fd copy(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) {
    return system_error("duplicating a descriptor", errno);
  }
  return copy;
}

Result<void> write_all(BorrowedFd fd, schema::ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return system_error("write", errno);
    }
    if (written > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  return {};
}

Result<std::string> read_all(BorrowedFd fd, std::size_t max_bytes) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t size = ::read(fd.get(), buffer.data(), buffer.size());
    if (size < 0 && errno != EINTR) {
      return system_error("read", errno);
    }
    if (size == 0) {
      return text;
    }
    if (size > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    if (text.size() > max_bytes) {
      return Error(ErrorCode::kResourceExhausted,
                   "more than " + std::to_string(max_bytes) + " bytes");
    }
  }
}

}  // namespace aasm::process
