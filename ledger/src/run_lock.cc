#include "run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <utility>

#include "private_files.h"

namespace aasm::ledger {
namespace {

using schema::Result;

constexpr std::string_view kFirstLine = "aasm-run/1\n";
constexpr const char* kSuffix = ".lock";
constexpr int kNameAttempts = 8;

std::string lock_name(const schema::RunId& run) {
  return run.text() + kSuffix;
}

std::string text_of(const RunLockNote& note) {
  return std::string(kFirstLine) + note.origin + "\n" + std::to_string(note.size) + "\n";
}

// A locked and written file without its final name, and the name it has meanwhile.
Result<Fd> make_locked(int directory, const std::string& temporary, const RunLockNote& note) {
  Fd file(openat(directory, temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 0600));
  if (!file.valid()) {
    return os_error("creating the run's lock file", errno);
  }
  const std::string text = text_of(note);
  while (flock(file.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return os_error("locking the run's lock file", errno);
    }
  }
  if (write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return os_error("writing the run's lock file", errno);
  }
  return file;
}

}  // namespace

Result<RunLock> RunLock::take(const std::string& runs_directory, const schema::RunId& run,
                              const RunLockNote& note) {
  Fd directory = AASM_TRY_CONTEXT(ensure_private_dir(runs_directory), "runs directory");
  std::string name = lock_name(run);
  for (int attempt = 1;; ++attempt) {
    const std::string temporary = "." + name + ".new-" + AASM_TRY(random_suffix());
    Result<Fd> file = make_locked(directory.get(), temporary, note);
    int failed = 0;
    if (file && renameat2(directory.get(), temporary.c_str(), directory.get(), name.c_str(),
                          RENAME_NOREPLACE) != 0) {
      failed = errno;
    }
    if (file && failed == 0) {
      return RunLock(std::move(directory), std::move(*file), std::move(name));
    }
    unlinkat(directory.get(), temporary.c_str(), 0);
    if (!file) {
      return std::move(file).error();
    }
    // ENOENT: a writer that cleans up took the temporary file before it was locked.
    if (failed != ENOENT || attempt == kNameAttempts) {
      return os_error("creating the run's lock file", failed);
    }
  }
}

void RunLock::finish() {
  // Removed while still locked: whoever opened it before finds it without a name and lets it be.
  unlinkat(directory_.get(), name_.c_str(), 0);
  file_.reset();
}

}  // namespace aasm::ledger
