#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

#include "shared_memory.h"

// What processes of the tree have made that others could find by a path or a number.
namespace aasm::backend_native {

// A file, for as long as it exists: numbers of inodes are used again, so its birth belongs to it.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t birth_seconds = 0;
  std::uint32_t birth_nanoseconds = 0;

  bool operator<(const FileIdentity& other) const {
    return std::tie(device, inode, birth_seconds, birth_nanoseconds) <
           std::tie(other.device, other.inode, other.birth_seconds, other.birth_nanoseconds);
  }
};

// nullopt where the file system keeps no times of birth.
std::optional<FileIdentity> file_identity(const process::Fd& file);

// Where the kernel says that a unix socket is bound: the number of the inode, of which it tells the
// lower half, and the device of its file system. Of no other network namespace than ours.
struct BoundFile {
  std::uint32_t inode = 0;
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
};
schema::Result<BoundFile> bound_file(const process::Fd& socket);

// Whether `file`, which a path led to after a bind(2), is what `bound` is bound to. `since`:
// seconds of CLOCK_REALTIME before the bind. On file systems that have several devices for the
// kernel and for stat(2) it has to have been born since.
bool is_bound_file(const FileIdentity& file, const BoundFile& bound, std::int64_t since);

// One thread. Sockets beyond the capacity push the oldest out, which are then strangers.
class MadeInside {
 public:
  static constexpr std::size_t kMaxSockets = 4096;

  void add_socket(const FileIdentity& file);
  bool has_socket(const FileIdentity& file) const { return sockets_.count(file) != 0; }

  void add_memory(MemoryKind kind, std::int32_t id) { memory_.emplace(kind, id); }
  void remove_memory(MemoryKind kind, std::int32_t id) { memory_.erase({kind, id}); }
  bool has_memory(MemoryKind kind, std::int32_t id) const { return memory_.count({kind, id}) != 0; }

 private:
  std::set<FileIdentity> sockets_;
  std::deque<FileIdentity> order_;
  std::set<std::pair<MemoryKind, std::int32_t>> memory_;
};

}  // namespace aasm::backend_native
