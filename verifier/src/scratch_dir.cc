#include "scratch_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <utility>

namespace aasm::verifier {
namespace {

Fault unusable(const std::string& what) {
  return {FindingCode::kScratchUnusable, what + ": " + std::strerror(errno)};
}

}  // namespace

EndingSignalsBlocked::EndingSignalsBlocked() {
  sigset_t endings;
  sigemptyset(&endings);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaddset(&endings, signal);
  }
  pthread_sigmask(SIG_BLOCK, &endings, &before_);
}

EndingSignalsBlocked::~EndingSignalsBlocked() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Step<ScratchDir> ScratchDir::make(const std::string& parent) {
  std::string base = parent;
  if (base.empty()) {
    std::error_code error;
    base = std::filesystem::temp_directory_path(error).string();
    if (error) {
      base = "/tmp";
    }
  }
  struct stat status {};
  if (stat(base.c_str(), &status) != 0) {
    return unusable("the directory " + base);
  }
  return ScratchDir(std::move(base));
}

ScratchDir::ScratchDir(ScratchDir&& other) noexcept
    : base_(std::exchange(other.base_, {})),
      path_(std::exchange(other.path_, {})),
      created_(other.created_) {}

ScratchDir& ScratchDir::operator=(ScratchDir&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(path_, other.path_);
  std::swap(created_, other.created_);
  return *this;
}

ScratchDir::~ScratchDir() {
  forget_names();
}

std::optional<Fault> ScratchDir::make_directory() {
  if (!path_.empty()) {
    return std::nullopt;
  }
  std::string pattern = base_ + "/aasm-verify-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {  // makes it with mode 0700
    return unusable("making a directory in " + base_);
  }
  path_ = std::move(pattern);
  return std::nullopt;
}

Step<ScratchFile> ScratchDir::create() {
  ScratchFile file;
  file.fd = Fd(open(base_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.fd.valid()) {
    return file;
  }
  // EISDIR from kernels or file systems that do not know the flag (open(2)).
  if (errno != EOPNOTSUPP && errno != EISDIR) {
    return unusable("making a file in " + base_);
  }
  if (std::optional<Fault> fault = make_directory()) {
    return *std::move(fault);
  }
  file.name = path_ + "/copy-" + std::to_string(++created_);
  file.fd = Fd(open(file.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.fd.valid()) {
    return unusable("making a file in " + path_);
  }
  return file;
}

Step<std::string> ScratchDir::path_for(const std::string& name) {
  if (std::optional<Fault> fault = make_directory()) {
    return *std::move(fault);
  }
  return path_ + "/" + name;
}

Step<std::string> ScratchDir::give_name(const ScratchFile& file, const std::string& name) {
  Step<std::string> path = path_for(name);
  if (path.fault() != nullptr) {
    return path;
  }
  const std::string unnamed = "/proc/self/fd/" + std::to_string(file.fd.get());
  const int failed = file.name.empty() ? linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD,
                                                path.value()->c_str(), AT_SYMLINK_FOLLOW)
                                       : rename(file.name.c_str(), path.value()->c_str());
  if (failed != 0) {
    return unusable("naming the copy in " + path_);
  }
  return path;
}

void ScratchDir::forget_names() {
  if (!path_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    path_.clear();
  }
}

}  // namespace aasm::verifier
