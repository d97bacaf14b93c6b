#include "aasm/process/exec_target.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "aasm/process/proc_status.h"
#include "aasm/process/shebang.h"

#include "path_search.h"

namespace aasm::process {

namespace {

using schema::BoundBy;
using schema::ImageRole;
using schema::LaunchRefusal;
using schema::Result;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

FileIdentity identity_from(const struct stat& info) {
  FileIdentity identity;
  identity.device = info.st_dev;
  identity.inode = info.st_ino;
  identity.size = info.st_size;
  identity.mtime_ns = info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec;
  identity.ctime_ns = info.st_ctim.tv_sec * kNsPerSecond + info.st_ctim.tv_nsec;
  return identity;
}

TargetRefusal refuse(LaunchRefusal reason, int os_errno, std::string path, std::string detail) {
  return {reason, os_errno, std::move(path), std::move(detail)};
}

TargetRefusal not_executable(int os_errno, std::string path, const std::string& what) {
  return refuse(LaunchRefusal::kProgramNotExecutable, os_errno, std::move(path),
                what + ": " + std::generic_category().message(os_errno));
}

// An opened image, or why it cannot be one.
struct Opened {
  std::optional<ExecImage> image;
  std::optional<TargetRefusal> refusal;
};

Result<Opened> open_image(ImageRole role, const std::string& path) {
  Opened opened;
  const std::string what = role == ImageRole::kInterpreter ? "interpreter" : "program";
  if (const int denied = executable_errno(path); denied != 0) {
    opened.refusal = not_executable(denied, path, what);
    return opened;
  }
  // Non-blocking: should the file have become a pipe since, the open must not wait for its writer.
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    opened.refusal = not_executable(errno, path, what + " cannot be read, and so not be hashed");
    return opened;
  }
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) {
    return system_error("fstat", errno);
  }
  if (!S_ISREG(info.st_mode)) {
    opened.refusal = not_executable(EACCES, path, what + " is not a regular file");
    return opened;
  }
  ExecImage image;
  image.role = role;
  image.path = path;
  image.resolved = AASM_TRY(read_link("/proc/self/fd/" + std::to_string(fd.get())));
  image.identity = identity_from(info);
  image.fd = std::move(fd);
  opened.image = std::move(image);
  return opened;
}

Result<ProgramHead> head_of(BorrowedFd fd) {
  std::array<char, kExecBufferSize> buffer{};
  const ssize_t size = ::pread(fd.get(), buffer.data(), buffer.size(), 0);
  if (size < 0) {
    return system_error("reading a program's first bytes", errno);
  }
  return parse_program_head(std::string_view(buffer.data(), static_cast<std::size_t>(size)));
}

// Follows "#!" from the program to its last interpreter and fills `target`. Returns the refusal, if
// there is one.
Result<std::optional<TargetRefusal>> open_chain(const std::string& path, ExecTarget& target) {
  std::string next = path;
  for (;;) {
    const bool first = target.images.empty();
    Opened opened =
        AASM_TRY(open_image(first ? ImageRole::kBinary : ImageRole::kInterpreter, next));
    if (opened.refusal) {
      return std::move(opened.refusal);
    }
    ExecImage& image = target.images.emplace_back(std::move(*opened.image));
    const ProgramHead head = AASM_TRY(head_of(image.fd.borrow()));
    switch (head.format) {
      case ProgramFormat::kElf:
        target.bound = first ? BoundBy::kDescriptor : BoundBy::kPath;
        return std::optional<TargetRefusal>();
      case ProgramFormat::kOther:
        return std::optional<TargetRefusal>();
      case ProgramFormat::kBadScript:
        return std::optional(not_executable(ENOEXEC, next, "bad \"#!\" line"));
      case ProgramFormat::kScript:
        break;
    }
    if (first) {
      image.role = ImageRole::kScript;
    }
    if (target.images.size() > kMaxInterpreters) {
      return std::optional(not_executable(ELOOP, next, "\"#!\" is nested too deeply"));
    }
    next = head.interpreter;
  }
}

}  // namespace

Result<FileIdentity> identity_of(BorrowedFd fd) {
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0) {
    return system_error("fstat", errno);
  }
  return identity_from(info);
}

Result<FileIdentity> identity_of(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) {
    return system_error("stat", errno);
  }
  return identity_from(info);
}

Result<TargetResolution> resolve_target(const std::string& program,
                                        const std::optional<std::string>& search_path) {
  TargetResolution resolution;
  const FoundProgram found = find_program(program, search_path);
  if (found.os_errno != 0) {
    const bool missing = found.os_errno == ENOENT || found.os_errno == ENOTDIR;
    resolution.refusal =
        refuse(missing ? LaunchRefusal::kProgramNotFound : LaunchRefusal::kProgramNotExecutable,
               found.os_errno, program, std::generic_category().message(found.os_errno));
    return resolution;
  }
  ExecTarget target;
  target.path = found.path;
  resolution.refusal = AASM_TRY_CONTEXT(open_chain(found.path, target), "examining the program");
  if (!resolution.refusal) {
    resolution.target = std::move(target);
  }
  return resolution;
}

bool unchanged(const ExecImage& image) {
  const auto now = identity_of(image.path);
  return now.has_value() && *now == image.identity;
}

}  // namespace aasm::process
