#include "output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace aasm::cli {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

}  // namespace

Result<OutputFile> OutputFile::open(const std::string& path) {
  const std::filesystem::path full(path);
  const std::string name = full.filename().string();
  if (name.empty() || name == "." || name == "..") {
    return Error(ErrorCode::kInvalidArgument, "not a file name: " + path);
  }
  const std::string folder = full.has_parent_path() ? full.parent_path().string() : ".";
  process::Fd directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) {
    return process::system_error("cannot open the directory of " + path, errno);
  }
  if (faccessat(directory.get(), ".", W_OK, AT_EACCESS) != 0) {
    return process::system_error("cannot write in the directory of " + path, errno);
  }
  return OutputFile(std::move(directory), name, path);
}

Result<void> OutputFile::write(std::string_view content) const {
  return write_with(content, 0);
}

Result<void> OutputFile::write_new(std::string_view content) const {
  return write_with(content, RENAME_NOREPLACE);
}

Result<void> OutputFile::write_with(std::string_view content, unsigned rename_flags) const {
  const std::string temporary = "." + name_ + "." + std::to_string(getpid()) + ".tmp";
  const process::Fd file(openat(directory_.get(), temporary.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.get() < 0) {
    return process::system_error("cannot create " + path_, errno);
  }
  Result<void> done = process::write_all(file.borrow(), schema::as_bytes(content));
  if (done && renameat2(directory_.get(), temporary.c_str(), directory_.get(), name_.c_str(),
                        rename_flags) != 0) {
    done = errno == EEXIST ? Error(ErrorCode::kConflict, "it is there already")
                           : process::system_error("rename", errno);
  }
  if (!done) {
    unlinkat(directory_.get(), temporary.c_str(), 0);
    return std::move(done).error().with_context("writing " + path_);
  }
  return {};
}

}  // namespace aasm::cli
