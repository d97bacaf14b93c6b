#include "own_leaf.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "aasm/process/fd.h"

namespace aasm::backend_native {

using schema::Result;

Result<void> write_to_group(const std::string& path, const std::string& value) {
  const process::Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    return process::system_error("writing " + path, errno);
  }
  return {};
}

Result<OwnLeaf> OwnLeaf::enter(std::string folder, std::string_view controller) {
  OwnLeaf own;
  own.folder_ = std::move(folder);
  own.controller_ = controller;
  const std::string leaf = own.leaf();
  if (::mkdir(leaf.c_str(), 0700) != 0 && errno != EEXIST) {  // of one that had our number
    const int os_errno = errno;
    own.folder_.clear();
    return process::system_error("making the control group " + leaf, os_errno);
  }
  AASM_TRY(write_to_group(leaf + "/cgroup.procs", std::to_string(::getpid())));
  AASM_TRY(write_to_group(own.folder_ + "/cgroup.subtree_control", "+" + own.controller_));
  return own;
}

std::string OwnLeaf::leaf() const {
  return folder_ + "/" + std::string(kPrefix) + std::to_string(::getpid());
}

bool OwnLeaf::is_only_child() const {
  const std::string own = leaf();
  std::error_code error;
  std::filesystem::directory_iterator entries(folder_, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (entries->is_directory(error) && entries->path() != own) {
      return false;
    }
  }
  return !error;
}

OwnLeaf::~OwnLeaf() {
  // A destructor cannot report; what stays is removed by the next run.
  if (!folder_.empty() && is_only_child()) {
    (void)write_to_group(folder_ + "/cgroup.subtree_control", "-" + controller_);
    (void)write_to_group(folder_ + "/cgroup.procs", std::to_string(::getpid()));
    ::rmdir(leaf().c_str());
  }
}

}  // namespace aasm::backend_native
