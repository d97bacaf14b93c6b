#include "source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "aasm/crypto/hash.h"

namespace aasm::verifier {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;
constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;
constexpr std::uint64_t kStatBlockBytes = 512;  // unit of st_blocks (stat(2))

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

bool write_all(int fd, const std::uint8_t* data, std::size_t size, std::uint64_t offset) {
  while (size > 0) {
    const ssize_t done = pwrite(fd, data, size, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    data += done;
    offset += static_cast<std::uint64_t>(done);
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

// Leaves out blocks of zeros: a new file reads as zeros where nothing was written.
bool write_data(int fd, const std::uint8_t* data, std::size_t size, std::uint64_t offset) {
  for (std::size_t at = 0; at < size; at += kBlockBytes) {
    const std::size_t length = std::min(kBlockBytes, size - at);
    const bool zeros =
        std::all_of(data + at, data + at + length, [](std::uint8_t byte) { return byte == 0; });
    if (!zeros && !write_all(fd, data + at, length, offset + at)) {
      return false;
    }
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

std::optional<Fault> too_large(const SourceFile& file, const std::string& name, const Fd& out,
                               const CopyLimit& limit) {
  const auto size = static_cast<std::uint64_t>(file.status.st_size);
  const std::uint64_t on_disk = static_cast<std::uint64_t>(file.status.st_blocks) * kStatBlockBytes;
  const std::uint64_t left = limit.max_bytes - limit.copied_bytes;
  const std::string sizes =
      name + " has " + std::to_string(size) + " bytes, " + std::to_string(on_disk) + " on disk";
  if (size > left || on_disk > left) {
    return Fault{FindingCode::kTargetTooLarge, sizes + "; the limit for all files together is " +
                                                   std::to_string(limit.max_bytes) +
                                                   " (--max-size raises it)"};
  }
  if (!fits(out.get(), std::min(size, on_disk))) {
    return Fault{FindingCode::kTargetTooLarge, sizes + ", and there is no room for the copy"};
  }
  return std::nullopt;
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

Step<CopiedFile> copy_source(const SourceFile& file, const std::string& name, const Fd& out,
                             const CopyLimit& limit) {
  if (std::optional<Fault> fault = too_large(file, name, out, limit)) {
    return *std::move(fault);
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
      break;
    }
    const auto size = static_cast<std::size_t>(got);
    if (copied.size + size > limit.max_bytes - limit.copied_bytes) {
      return Fault{FindingCode::kTargetTooLarge, name + " grew past the limit while it was read"};
    }
    hasher.update(schema::ByteView(chunk.data(), size));
    if (!write_data(out.get(), chunk.data(), size, copied.size)) {
      return system_fault(FindingCode::kScratchUnusable, "writing the copy", errno);
    }
    copied.size += size;
  }
  if (ftruncate(out.get(), static_cast<off_t>(copied.size)) != 0) {  // a hole at the end
    return system_fault(FindingCode::kScratchUnusable, "writing the copy", errno);
  }
  copied.digest = hasher.finish();
  return copied;
}

}  // namespace aasm::verifier
