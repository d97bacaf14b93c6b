#include "run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include <utility>

#include "private_files.h"

namespace aasm::ledger {

using schema::Result;

Result<RunLock> RunLock::take(const std::string& runs_directory, const schema::RunId& run) {
  Fd directory = AASM_TRY_CONTEXT(ensure_private_dir(runs_directory), "runs directory");
  std::string name = run.text() + ".lock";
  Fd file(openat(directory.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 0600));
  if (!file.valid()) {
    return os_error("creating the run's lock file", errno);
  }
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    return os_error("locking the run's lock file", errno);
  }
  return RunLock(std::move(directory), std::move(file), std::move(name));
}

void RunLock::finish() {
  // Removed while still locked: whoever opened it before sees the run closed once it has the lock.
  unlinkat(directory_.get(), name_.c_str(), 0);
  file_.reset();
}

}  // namespace aasm::ledger
