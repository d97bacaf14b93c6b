#include "output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "aasm/crypto/random.h"
#include "aasm/schema/hex.h"

namespace aasm::cli {
namespace {

using process::Fd;
using process::system_error;
using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kSuffixDigits = 16;

// ".<name>.<16 hex>.tmp"
Result<std::string> temporary_name(const std::string& name) {
  std::array<std::uint8_t, kSuffixDigits / 2> random{};
  AASM_TRY(crypto::random_bytes(random));
  return "." + name + "." + schema::to_hex(random) + ".tmp";
}

bool is_temporary_name(std::string_view text, const std::string& name) {
  const std::string before = "." + name + ".";
  if (text.size() != before.size() + kSuffixDigits + 4 || !text.starts_with(before) ||
      !text.ends_with(".tmp")) {
    return false;
  }
  return text.substr(before.size(), kSuffixDigits).find_first_not_of("0123456789abcdef") ==
         std::string_view::npos;
}

bool lock(const Fd& file, int how) {
  while (flock(file.get(), how) != 0) {
    if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

// Gives a file without a name this one. It is locked before anybody can see it.
bool give_name(const Fd& file, const Fd& directory, const std::string& name) {
  const std::string self = "/proc/self/fd/" + std::to_string(file.get());
  return linkat(AT_FDCWD, self.c_str(), directory.get(), name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// Only its owner can make or rename anything there.
bool is_private(const Fd& directory) {
  struct stat info {};
  return fstat(directory.get(), &info) == 0 && info.st_uid == geteuid() &&
         (info.st_mode & 077U) == 0;
}

// Temporary files of `name` that nobody is writing any more: whoever made them was killed. Looked
// for in private directories only, for elsewhere a program can have made what looks like one.
void remove_leftovers(const Fd& directory, const std::string& name) {
  if (!is_private(directory)) {
    return;
  }
  std::error_code error;
  const std::string place = "/proc/self/fd/" + std::to_string(directory.get()) + "/.";
  for (std::filesystem::directory_iterator at(place, error), end; !error && at != end;
       at.increment(error)) {
    const std::string one = at->path().filename().string();
    if (!is_temporary_name(one, name)) {
      continue;
    }
    const Fd file(
        openat(directory.get(), one.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat info {};
    if (file && fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == geteuid() && lock(file, LOCK_EX | LOCK_NB)) {
      unlinkat(directory.get(), one.c_str(), 0);
    }
  }
}

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path) {
  const std::filesystem::path full(path);
  const std::string name = full.filename().string();
  if (name.empty() || name == "." || name == "..") {
    return Error(ErrorCode::kInvalidArgument, "not a file name: " + path);
  }
  const std::string folder = full.has_parent_path() ? full.parent_path().string() : ".";
  Fd directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) {
    return system_error("cannot open the directory of " + path, errno);
  }
  if (faccessat(directory.get(), ".", W_OK, AT_EACCESS) != 0) {
    return system_error("cannot write in the directory of " + path, errno);
  }
  struct stat there {};
  if (fstatat(directory.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(there.st_mode)) {
    return Error(ErrorCode::kConflict, "there is a directory at " + path);
  }
  return OutputFile(std::move(directory), name, path);
}

Result<void> OutputFile::write(std::string_view content) const {
  return write_with(content, Standing::kReplaced);
}

Result<void> OutputFile::write_new(std::string_view content) const {
  return write_with(content, Standing::kKept);
}

// Without a name, where the file system has such files: then a kill leaves nothing.
Result<void> OutputFile::write_with(std::string_view content, Standing standing) const {
  const Fd file(openat(directory_.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644));
  if (!file) {
    return write_named(content, standing);
  }
  AASM_TRY_CONTEXT(process::write_all(file.borrow(), schema::as_bytes(content)),
                   "writing " + path_);
  if (give_name(file, directory_, name_)) {
    return {};
  }
  if (errno != EEXIST) {
    return write_named(content, standing);  // no /proc to name it by
  }
  if (standing == Standing::kKept) {
    return Error(ErrorCode::kConflict, "it is there already").with_context("writing " + path_);
  }
  const std::string temporary = AASM_TRY(temporary_name(name_));
  if (!lock(file, LOCK_EX) || !give_name(file, directory_, temporary)) {
    return system_error("cannot name what is to replace " + path_, errno);
  }
  return move_into_place(temporary, 0);
}

Result<void> OutputFile::write_named(std::string_view content, Standing standing) const {
  const std::string temporary = AASM_TRY(temporary_name(name_));
  const Fd file(openat(directory_.get(), temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!file) {
    return system_error("cannot create " + path_, errno);
  }
  lock(file, LOCK_EX);
  const Result<void> done = process::write_all(file.borrow(), schema::as_bytes(content));
  if (!done) {
    unlinkat(directory_.get(), temporary.c_str(), 0);
    return Error(done.error()).with_context("writing " + path_);
  }
  return move_into_place(temporary, standing == Standing::kKept ? RENAME_NOREPLACE : 0);
}

Result<void> OutputFile::move_into_place(const std::string& temporary, unsigned flags) const {
  if (renameat2(directory_.get(), temporary.c_str(), directory_.get(), name_.c_str(), flags) != 0) {
    const int os_errno = errno;
    unlinkat(directory_.get(), temporary.c_str(), 0);
    const Error error = os_errno == EEXIST ? Error(ErrorCode::kConflict, "it is there already")
                                           : system_error("rename", os_errno);
    return Error(error).with_context("writing " + path_);
  }
  remove_leftovers(directory_, name_);
  return {};
}

}  // namespace aasm::cli
