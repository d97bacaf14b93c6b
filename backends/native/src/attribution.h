#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "aasm/process/fd.h"
#include "aasm/schema/path_bytes.h"
#include "aasm/schema/result.h"

namespace aasm::backend_native {

// Who made a call. `executable` is what /proc/TID/exe names, "(deleted)" and all; empty when it
// cannot be read. `pid` is 0 when nothing could be read.
struct Caller {
  std::int64_t pid = 0;  // thread group id
  schema::PathBytes executable;
  // The thread had called before and existed until now, so its number named nobody else meanwhile:
  // this is true of the caller even when it has gone since.
  bool certain = false;
};

// From the thread id of a notification to process, parents and executable, by /proc (proc(5)).
//
// What is read is true of the blocked caller only if the notification is still valid afterwards
// (SECCOMP_IOCTL_NOTIF_ID_VALID): its thread then existed during the reading, so its number named
// nobody else. Checking that is the channel's part. The cache keeps an open directory and status
// for each thread; those of a thread that has ended answer ESRCH for ever, so a number that was
// reused is noticed. What they say is read anew each time. One thread at a time; holds at most
// three descriptors for each of `capacity` threads, and none of them when this process has no other
// left.
class Attribution {
 public:
  static constexpr std::size_t kDefaultCapacity = 64;
  // Ancestors beyond this are left out of `parents`.
  static constexpr std::size_t kMaxParents = 64;

  // Of a process that may have `limit` descriptors: most of them are needed for other things.
  static constexpr std::size_t capacity_for(std::uint64_t limit) {
    const std::uint64_t part = limit / 24;
    return part < 1 ? 1 : part > kDefaultCapacity ? kDefaultCapacity : std::size_t{part};
  }

  // Chains of parents end at `root` (the warden), or at the process this runs in.
  explicit Attribution(pid_t root, std::size_t capacity = kDefaultCapacity)
      : root_(root), capacity_(capacity) {}

  Caller identify(pid_t tid);

  // /proc/TID/status of the thread that identify() was last asked about, read since then.
  schema::Result<std::string> status(pid_t tid) const;

  // A copy of a descriptor of the same thread, as take_descriptor() of caller_state.h gives it.
  schema::Result<process::Fd> take_descriptor(pid_t tid, int number);

  // Parents of process `pid`, nearest first, the last being the root when the chain reaches it.
  // Each link was seen from both ends: the child still named that parent after the parent had been
  // opened, or named one that had been opened before and was there afterwards. Ends early where
  // that fails or a process is gone.
  std::vector<std::int64_t> parents(std::int64_t pid) const;

  // Whether what parents() gave ends only because it is as long as it may be.
  bool is_cut(const std::vector<std::int64_t>& chain) const {
    return chain.size() >= kMaxParents && chain.back() != root_;
  }

  std::size_t cached() const { return known_.size(); }

 private:
  struct Known {
    process::Fd directory;  // /proc/TID
    process::Fd status;     // below it
    process::Fd thread;     // pidfd; empty until a descriptor is taken
    std::int64_t pid = 0;
    std::uint64_t last_use = 0;
  };

  Known* open_thread(pid_t tid);
  // Of a process whose directory is held and answers.
  std::optional<std::int64_t> held_parent(std::int64_t pid) const;
  void make_room();

  pid_t root_;
  std::size_t capacity_;
  std::uint64_t uses_ = 0;
  std::unordered_map<pid_t, Known> known_;
  // Where identify() had to read it.
  struct {
    pid_t tid = 0;
    std::string status;
  } fresh_;
};

}  // namespace aasm::backend_native
