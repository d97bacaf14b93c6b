#include "aasm/process/open_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "aasm/process/fd.h"

#include "number.h"

namespace aasm::process {
namespace {

using schema::DescriptorKind;
using schema::Result;

struct CloseDir {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// A memfd has no name in any directory, and the kernel says so in the link's text (proc(5)).
bool is_memfd(int number, const struct stat& info) {
  std::array<char, 64> link{};
  const std::string path = "/proc/self/fd/" + std::to_string(number);
  const ssize_t length = ::readlink(path.c_str(), link.data(), link.size());
  return info.st_nlink == 0 && length > 0 &&
         std::string_view(link.data(), static_cast<std::size_t>(length)).starts_with("/memfd:");
}

DescriptorKind kind_of(int number, const struct stat& info) {
  switch (info.st_mode & S_IFMT) {
    case S_IFREG:
      return is_memfd(number, info) ? DescriptorKind::kMemfd : DescriptorKind::kFile;
    case S_IFDIR:
      return DescriptorKind::kDirectory;
    case S_IFIFO:
      return DescriptorKind::kPipe;
    case S_IFSOCK:
      return DescriptorKind::kSocket;
    case S_IFCHR:
      return ::isatty(number) != 0 ? DescriptorKind::kTerminal : DescriptorKind::kDevice;
    case S_IFBLK:
      return DescriptorKind::kDevice;
    default:
      return S_ISLNK(info.st_mode) ? DescriptorKind::kFile : DescriptorKind::kAnonymous;
  }
}

// nullopt: closed in the meantime.
std::optional<OpenDescriptor> look_at(int number) {
  struct stat info {};
  const int descriptor_flags = ::fcntl(number, F_GETFD);
  const int file_flags = ::fcntl(number, F_GETFL);
  if (descriptor_flags < 0 || file_flags < 0 || ::fstat(number, &info) != 0) {
    return std::nullopt;
  }
  OpenDescriptor found;
  found.number = number;
  found.kind = kind_of(number, info);
  found.writable = (file_flags & O_PATH) == 0 && (file_flags & O_ACCMODE) != O_RDONLY;
  found.close_on_exec = (descriptor_flags & FD_CLOEXEC) != 0;
  found.device = info.st_dev;
  found.inode = info.st_ino;
  return found;
}

}  // namespace

Result<std::vector<OpenDescriptor>> list_open_descriptors() {
  const std::unique_ptr<DIR, CloseDir> directory(::opendir("/proc/self/fd"));
  if (directory == nullptr) {
    return system_error("listing /proc/self/fd", errno);
  }
  std::vector<OpenDescriptor> found;
  errno = 0;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name.front() == '.') {
      continue;
    }
    const int number = AASM_TRY(parse_number<int>(name));
    std::optional<OpenDescriptor> one =
        number == ::dirfd(directory.get()) ? std::nullopt : look_at(number);
    if (one) {
      found.push_back(*one);
    }
    errno = 0;
  }
  if (errno != 0) {
    return system_error("listing /proc/self/fd", errno);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return found;
}

}  // namespace aasm::process
