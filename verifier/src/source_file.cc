#include "source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "aasm/crypto/hash.h"

namespace aasm::verifier {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;

Fault system_fault(FindingCode code, const std::string& what, int os_errno) {
  return {code, what + ": " + std::strerror(os_errno)};
}

Fault open_fault(const std::string& name, int os_errno) {
  if (os_errno == ENOENT || os_errno == ENOTDIR) {
    return system_fault(FindingCode::kTargetNotFound, name, os_errno);
  }
  if (os_errno == ELOOP) {
    return {FindingCode::kTargetNotRegular, name + " is a symbolic link"};
  }
  return system_fault(FindingCode::kTargetUnreadable, "opening " + name, os_errno);
}

std::string what_is(mode_t mode) {
  if (S_ISLNK(mode)) {
    return "a symbolic link";
  }
  if (S_ISDIR(mode)) {
    return "a directory";
  }
  if (S_ISFIFO(mode)) {
    return "a FIFO";
  }
  return S_ISSOCK(mode) ? "a socket" : "a device";
}

bool write_all(int fd, const std::uint8_t* data, std::size_t size) {
  while (size > 0) {
    const ssize_t done = write(fd, data, size);
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    data += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

// A hostile file may claim any size: better said at once than found when the disk is full.
bool fits(int fd, std::uint64_t size) {
  struct statvfs space {};
  if (fstatvfs(fd, &space) != 0) {
    return true;
  }
  return size <= std::uint64_t{space.f_bavail} * std::uint64_t{space.f_frsize};
}

}  // namespace

Step<SourceDir> open_source_dir(const std::string& target) {
  if (target.empty() || target.find('\0') != std::string::npos) {
    return Fault{FindingCode::kTargetNotFound, "the path names no file"};
  }
  const std::size_t slash = target.rfind('/');
  std::string parent = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  std::string name = slash == std::string::npos ? target : target.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") {
    return Fault{FindingCode::kTargetNotRegular, "the path names a directory"};
  }
  Fd dir(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!dir.valid()) {
    return open_fault("the directory of the target", errno);
  }
  return SourceDir{std::move(dir), std::move(name)};
}

Step<std::optional<SourceFile>> open_source(const SourceDir& source, const std::string& name) {
  using Found = std::optional<SourceFile>;
  SourceFile file;
  if (fstatat(source.dir.get(), name.c_str(), &file.status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) {
      return Found();
    }
    return open_fault(name, errno);
  }
  // Looked at before it is opened, for opening alone can wake a device; and again afterwards,
  // because the name may mean something else by then.
  if (!S_ISREG(file.status.st_mode)) {
    return Fault{FindingCode::kTargetNotRegular, name + " is " + what_is(file.status.st_mode)};
  }
  file.fd = Fd(openat(source.dir.get(), name.c_str(),
                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file.fd.valid()) {
    if (errno == ENOENT) {
      return Found();
    }
    return open_fault(name, errno);
  }
  if (fstat(file.fd.get(), &file.status) != 0) {
    return open_fault(name, errno);
  }
  if (!S_ISREG(file.status.st_mode)) {
    return Fault{FindingCode::kTargetNotRegular, name + " is " + what_is(file.status.st_mode)};
  }
  return Found(std::move(file));
}

Step<CopiedFile> copy_source(const SourceFile& file, const std::string& name, const std::string& to,
                             std::uint64_t max_bytes) {
  const Fd out(open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out.valid()) {
    return system_fault(FindingCode::kScratchUnusable, "making the copy", errno);
  }
  const auto claimed = static_cast<std::uint64_t>(file.status.st_size);
  if (claimed > max_bytes || !fits(out.get(), claimed)) {
    return Fault{FindingCode::kTargetTooLarge, name + " has " + std::to_string(claimed) + " bytes"};
  }
  CopiedFile copied{name, 0, {}};
  crypto::Sha256Hasher hasher;
  std::vector<std::uint8_t> chunk(kChunkBytes);
  for (;;) {
    const ssize_t got =
        pread(file.fd.get(), chunk.data(), chunk.size(), static_cast<off_t>(copied.size));
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return system_fault(FindingCode::kTargetUnreadable, "reading " + name, errno);
    }
    if (got == 0) {
      copied.digest = hasher.finish();
      return copied;
    }
    const auto size = static_cast<std::size_t>(got);
    copied.size += size;
    if (copied.size > max_bytes) {
      return Fault{FindingCode::kTargetTooLarge, name + " grew past the limit while it was read"};
    }
    hasher.update(schema::ByteView(chunk.data(), size));
    if (!write_all(out.get(), chunk.data(), size)) {
      return system_fault(FindingCode::kScratchUnusable, "writing the copy", errno);
    }
  }
}

}  // namespace aasm::verifier
