#include "private_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>

#include "aasm/crypto/random.h"
#include "aasm/schema/hex.h"

namespace aasm::ledger {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

namespace {

constexpr mode_t kPermissionBits = 0777;
constexpr const char* kTemporarySuffix = ".new";

Result<void> check_private(const struct stat& status, mode_t wanted, std::string_view what) {
  if (status.st_uid != geteuid()) {
    return Error(ErrorCode::kPermissionDenied, std::string(what) + " belongs to another user");
  }
  if ((status.st_mode & kPermissionBits) != wanted) {
    return Error(ErrorCode::kPermissionDenied,
                 std::string(what) + " must have mode " + (wanted == 0700 ? "0700" : "0600"));
  }
  return {};
}

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return os_error("writing", written < 0 ? errno : EIO);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// The umask may have taken bits away that the reader will insist on. Else there is nothing to
// change, which a writer that is confined may not do.
bool make_private(const Fd& fd) {
  struct stat status {};
  return fstat(fd.get(), &status) == 0 &&
         ((status.st_mode & 07777U) == 0600 || fchmod(fd.get(), 0600) == 0);
}

Result<Fd> create_file(int directory, const std::string& name) {
  Fd fd(
      openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) {
    return os_error("creating " + name, errno);
  }
  if (!make_private(fd)) {
    return os_error("setting the mode of " + name, errno);
  }
  return fd;
}

// Whether `name` still is the file that `fd` has open: another writer may have renamed or removed
// it before we had the lock.
bool is_still(const Fd& fd, int directory, const std::string& name) {
  struct stat held {};
  struct stat named {};
  return fstat(fd.get(), &held) == 0 &&
         fstatat(directory, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

// The empty file of this name, locked: whoever else wants to write it waits. What a writer that was
// killed has left is emptied, and nothing else is: it has one name, and is ours.
Result<Fd> take_temporary(int directory, const std::string& name) {
  while (true) {
    Fd fd(openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                 0600));
    if (!fd.valid()) {
      return os_error("creating it", errno);
    }
    while (flock(fd.get(), LOCK_EX) != 0) {
      if (errno != EINTR) {
        return os_error("locking it", errno);
      }
    }
    if (!is_still(fd, directory, name)) {
      continue;
    }
    struct stat status {};
    if (fstat(fd.get(), &status) != 0) {
      return os_error("looking at it", errno);
    }
    if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink != 1) {
      return Error(ErrorCode::kPermissionDenied, "it is no file of ours alone");
    }
    if (!make_private(fd) || ftruncate(fd.get(), 0) != 0) {
      return os_error("emptying it", errno);
    }
    return fd;
  }
}

}  // namespace

Error os_error(std::string_view what, int os_errno) {
  ErrorCode code = ErrorCode::kUnavailable;
  if (os_errno == ENOENT || os_errno == ENOTDIR) {
    code = ErrorCode::kNotFound;
  } else if (os_errno == EACCES || os_errno == EPERM || os_errno == EROFS || os_errno == ELOOP) {
    code = ErrorCode::kPermissionDenied;
  } else if (os_errno == EEXIST || os_errno == ENOTEMPTY) {
    code = ErrorCode::kConflict;
  } else if (os_errno == ENOSPC || os_errno == EDQUOT || os_errno == EFBIG || os_errno == EMFILE ||
             os_errno == ENFILE) {
    code = ErrorCode::kResourceExhausted;
  }
  return {code, std::string(what), os_errno};
}

Result<Fd> open_private_dir(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) {
    return os_error("opening the directory", errno);
  }
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) {
    return os_error("looking at the directory", errno);
  }
  AASM_TRY(check_private(status, 0700, "the directory"));
  return fd;
}

Result<Fd> ensure_private_dir(const std::string& path) {
  if (mkdir(path.c_str(), 0700) == 0) {
    if (chmod(path.c_str(), 0700) != 0) {
      return os_error("setting the mode of the directory", errno);
    }
    AASM_TRY(sync_directory(parent_of(path)));
  } else if (errno != EEXIST) {
    return os_error("creating the directory", errno);
  }
  return open_private_dir(path);
}

Result<void> sync_directory(const std::string& path) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    return os_error("opening the directory", errno);
  }
  if (fsync(fd.get()) != 0) {
    return os_error("syncing the directory", errno);
  }
  return {};
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

Result<std::string_view> read_private_file(int directory, const std::string& name, char* buffer,
                                           std::size_t size) {
  const Fd fd(openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) {
    return os_error("opening " + name, errno);
  }
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) {
    return os_error("looking at " + name, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::kPermissionDenied, name + " is no regular file");
  }
  AASM_TRY(check_private(status, 0600, name));
  std::size_t used = 0;
  while (used < size) {
    const ssize_t got = read(fd.get(), buffer + used, size - used);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return os_error("reading " + name, errno);
    }
    if (got == 0) {
      return std::string_view(buffer, used);
    }
    used += static_cast<std::size_t>(got);
  }
  return Error(ErrorCode::kMalformed, name + " is too long");
}

Result<void> create_private_file(int directory, const std::string& name, std::string_view bytes) {
  const Fd fd = AASM_TRY(create_file(directory, name));
  AASM_TRY_CONTEXT(write_all(fd.get(), bytes), name);
  if (fsync(fd.get()) != 0) {
    return os_error("syncing " + name, errno);
  }
  return {};
}

Result<void> replace_private_file(int directory, const std::string& name, std::string_view bytes) {
  const std::string temporary = name + kTemporarySuffix;
  const Fd fd = AASM_TRY_CONTEXT(take_temporary(directory, temporary), temporary);
  Result<void> written = write_all(fd.get(), bytes);
  if (written.has_value() && renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
    written = os_error("renaming over " + name, errno);
  }
  if (!written) {
    unlinkat(directory, temporary.c_str(), 0);  // locked, so it is ours
  }
  return written;
}

Result<std::string> random_suffix() {
  std::array<std::uint8_t, 8> random{};
  AASM_TRY(crypto::random_bytes(random));
  return schema::to_hex(random);
}

}  // namespace aasm::ledger
