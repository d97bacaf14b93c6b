#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

#include "fd.h"

namespace aasm::ledger {

// What a lock file says, three lines: "aasm-run/1", the origin, and the number of records in the
// ledger before the run's first. The number only says where a search may begin.
struct RunLockNote {
  std::string origin;
  std::uint64_t size = 0;
};

// The lock on runs/<run id>.lock that a supervisor holds from before run.opened until after
// run.closed (docs/spec/ledger-format.md rule 4.6): who can take it knows that the supervisor is
// gone. The descriptor is close-on-exec; the lock goes with the process at the latest. The file
// gets its name when it is locked and written, is removed when the run was closed, and stays after
// a crash.
class RunLock {
 public:
  // kConflict when the file exists: a run id is used once.
  static schema::Result<RunLock> take(const std::string& runs_directory, const schema::RunId& run,
                                      const RunLockNote& note);

  // Removes the file and lets the lock go. Call it once the run's end is durable.
  void finish();

 private:
  friend class RunsDirectory;
  RunLock(Fd directory, Fd file, std::string name)
      : directory_(std::move(directory)), file_(std::move(file)), name_(std::move(name)) {}

  Fd directory_;
  Fd file_;
  std::string name_;
};

// A lock file that nobody held, now held by us.
struct StaleLock {
  schema::RunId run;
  std::optional<RunLockNote> note;  // nullopt when the file is empty: a power cut took its content
  RunLock lock;
};

// runs/ as one look at it found it: lock files, and one marker for each ledger and boot.
class RunsDirectory {
 public:
  // nullopt when there is no such directory.
  static schema::Result<std::optional<RunsDirectory>> read(const std::string& path);

  bool has_lock(const schema::RunId& run) const;
  // The locks that nobody holds, at most kMaxStale of them: the others wait for the next writer.
  static constexpr std::size_t kMaxStale = 64;
  schema::Result<std::vector<StaleLock>> take_stale() const;

  // Removes lock files that a writer was killed while making, of whatever ledger. One that is being
  // made is locked, or made again (RunLock::take).
  void remove_unnamed() const;

  // The marker "swept-<origin>-<boot>": every run opened below the size it holds has ended.
  bool is_swept(const std::string& origin, const std::string& boot) const;
  // The largest size that a marker of this ledger holds, of whatever boot; 0 without one.
  std::uint64_t swept_size(const std::string& origin) const;
  // Leaves the marker for this boot and removes those of others, best effort.
  static void mark_swept(const std::string& path, const std::string& origin,
                         const std::string& boot, std::uint64_t size);

 private:
  explicit RunsDirectory(Fd directory) : directory_(std::move(directory)) {}

  Fd directory_;
  std::vector<std::string> names_;
};

}  // namespace aasm::ledger
