#include "audit_switch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using schema::WitnessWish;

constexpr std::size_t kBootIdBytes = 36;

std::string read_start(int fd) {
  std::string text(kBootIdBytes, '\0');
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return text;
}

std::string this_boot() {
  const auto file = process::open_file("/proc/sys/kernel/random/boot_id", O_RDONLY);
  return file ? read_start(file->get()) : "";
}

Result<process::Fd> open_locked(int make) {
  process::Fd file(
      ::open(AuditSwitch::kFile, O_RDWR | O_CLOEXEC | O_NOFOLLOW | make, S_IRUSR | S_IWUSR));
  if (!file && errno == ENOENT) {
    return file;
  }
  if (!file) {
    return process::system_error(AuditSwitch::kFile, errno);
  }
  if (::flock(file.get(), LOCK_SH) != 0) {  // held for good only by runs, else for a moment
    return process::system_error(AuditSwitch::kFile, errno);
  }
  return file;
}

// Locked; none where the file does not exist and is not to be made.
Result<process::Fd> hold_file(WitnessWish wish) {
  while (true) {
    process::Fd file = AASM_TRY(open_locked(wish == WitnessWish::kEnable ? O_CREAT : 0));
    struct stat what {};
    if (!file) {
      return file;
    }
    if (::fstat(file.get(), &what) != 0) {
      return process::system_error(AuditSwitch::kFile, errno);
    }
    if (!S_ISREG(what.st_mode) || what.st_uid != 0 || (what.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
      return Error(ErrorCode::kUnsupported,
                   std::string(AuditSwitch::kFile) + " is not root's alone");
    }
    if (what.st_nlink != 0) {
      return file;
    }
    // The last run before removed it between opening and locking.
  }
}

}  // namespace

Result<AuditSwitch> AuditSwitch::open(WitnessWish wish) {
  const AuditStatus asked = AASM_TRY(AuditLink::status());
  process::Fd file;
  if (::geteuid() == 0) {
    file = AASM_TRY(hold_file(wish));
  }
  AuditSwitch audit(std::move(file), asked);
  audit.before_ = AASM_TRY(AuditLink::status());  // nobody switches it off from here on
  if (audit.before_.enabled == 0) {
    if (wish == WitnessWish::kListen) {
      return Error(ErrorCode::kUnavailable,
                   "the host's audit is off, and the policy does not let it be switched on");
    }
    AASM_TRY(audit.switch_on());
  }
  return audit;
}

Result<void> AuditSwitch::switch_on() {
  const std::string boot = this_boot();
  if (!file_ || boot.size() != kBootIdBytes ||
      ::pwrite(file_.get(), boot.data(), boot.size(), 0) != static_cast<ssize_t>(boot.size())) {
    return Error(ErrorCode::kUnavailable,
                 "noting in " + std::string(kFile) + " that the host's audit is switched on");
  }
  AASM_TRY(AuditLink::set_enabled(true));
  switched_on_ = true;
  return {};
}

void AuditSwitch::close() {
  if (!file_) {
    return;
  }
  // The last one holds it alone; the others leave it to that.
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) {
    const auto now = AuditLink::status();
    const bool ours = read_start(file_.get()) == this_boot();
    if (!ours || (now && (now->daemon != 0 || AuditLink::set_enabled(false)))) {
      ::unlink(kFile);
    }
  }
  file_.reset();
}

}  // namespace aasm::backend_native
