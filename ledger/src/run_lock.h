#pragma once

#include <string>

#include "aasm/schema/result.h"
#include "aasm/schema/uuid.h"

#include "fd.h"

namespace aasm::ledger {

// The lock on runs/<run id>.lock that a supervisor holds from before run.opened until after
// run.closed (docs/spec/ledger-format.md rule 4.6): who can take it knows that the supervisor is
// gone. The descriptor is close-on-exec; the lock goes with the process at the latest. The empty
// file is removed when the run was closed, and stays after a crash.
class RunLock {
 public:
  // kConflict when the file exists: a run id is used once.
  static schema::Result<RunLock> take(const std::string& runs_directory, const schema::RunId& run);

  // Removes the file and lets the lock go. Call it once run.closed is durable.
  void finish();

 private:
  RunLock(Fd directory, Fd file, std::string name)
      : directory_(std::move(directory)), file_(std::move(file)), name_(std::move(name)) {}

  Fd directory_;
  Fd file_;
  std::string name_;
};

}  // namespace aasm::ledger
