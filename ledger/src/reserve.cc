#include "reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"
#include "private_files.h"

namespace aasm::ledger {
namespace {

using schema::ErrorCode;
using schema::Result;

constexpr std::int64_t kBlockBytes = 512;  // of st_blocks, whatever the file system's own are

std::string reserve_path(const std::string& ledger) {
  return ledger + ".reserve";
}

}  // namespace

Result<void> ensure_reserve(const std::string& ledger) {
  const std::string path = reserve_path(ledger);
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size == kReserveBytes && status.st_blocks * kBlockBytes >= kReserveBytes) {
    return {};
  }
  const Fd file(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) {
    return os_error("making the reserve of the ledger", errno);
  }
  const int failed = posix_fallocate(file.get(), 0, kReserveBytes);
  if (failed != 0) {
    unlink(path.c_str());
    return os_error("there is no room for the reserve of the ledger", failed);
  }
  return {};
}

bool free_reserve(const std::string& ledger) {
  return unlink(reserve_path(ledger).c_str()) == 0;
}

bool is_disk_full(const schema::Error& error) {
  constexpr const char* kSqliteFull = "SQLite 13:";  // SQLITE_FULL, with or without an errno
  return error.code() == ErrorCode::kResourceExhausted &&
         (error.os_errno() == ENOSPC || error.os_errno() == EDQUOT ||
          error.message().find(kSqliteFull) != std::string::npos);
}

}  // namespace aasm::ledger
