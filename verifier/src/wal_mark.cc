#include "wal_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <thread>

namespace aasm::verifier {
namespace {

constexpr std::uint64_t kWalHeaderBytes = 32;
constexpr off_t kSaltOffset = 16;
// SQLite's os_unix.c: locks begin at byte (22 + 8) * 4 of the -shm file; WAL_CKPT_LOCK is the
// second of them.
constexpr off_t kCheckpointLockByte = 121;
// And PENDING_BYTE and the SHARED range of the database file.
constexpr off_t kPendingByte = 0x40000000;
constexpr off_t kSharedFirst = kPendingByte + 2;
constexpr off_t kSharedSize = 510;
// Longer than the tick of file timestamps.
constexpr std::int64_t kFreshNs = 20000000;
constexpr std::chrono::milliseconds kLockPause{5};

bool same_time(const struct timespec& left, const struct timespec& right) {
  return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

bool set_lock(int fd, short type, off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

// As a reader does: through the pending byte, so that a waiting writer is not starved.
bool lock_database(int fd) {
  if (!set_lock(fd, F_RDLCK, kPendingByte, 1)) {
    return false;
  }
  const bool locked = set_lock(fd, F_RDLCK, kSharedFirst, kSharedSize);
  static_cast<void>(set_lock(fd, F_UNLCK, kPendingByte, 1));
  return locked;
}

bool is_fresh(const struct timespec& changed) {
  struct timespec now {};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t age = (std::int64_t{now.tv_sec} - std::int64_t{changed.tv_sec}) * 1000000000 +
                           (std::int64_t{now.tv_nsec} - std::int64_t{changed.tv_nsec});
  return age < kFreshNs && age > -kFreshNs;  // a clock set back must not make it fresh for days
}

}  // namespace

Step<WalMark> read_wal_mark(const SourceDir& source) {
  WalMark mark;
  Step<std::optional<SourceFile>> db = open_source(source, source.name);
  if (db.fault() != nullptr) {
    return *db.fault();
  }
  if (!*db.value()) {
    return Fault{FindingCode::kTargetNotFound, source.name + ": there is no such file"};
  }
  const struct stat& status = (*db.value())->status;
  mark.db_changed = status.st_ctim;
  mark.db_modified = status.st_mtim;
  mark.db_inode = status.st_ino;
  mark.db_size = static_cast<std::uint64_t>(status.st_size);
  mark.db_is_fresh = is_fresh(status.st_ctim);

  Step<std::optional<SourceFile>> wal = open_source(source, source.name + "-wal");
  if (wal.fault() != nullptr) {
    return *wal.fault();
  }
  if (!*wal.value()) {
    return mark;
  }
  const SourceFile& file = **wal.value();
  mark.wal_inode = file.status.st_ino;
  mark.wal_size = static_cast<std::uint64_t>(file.status.st_size);
  const ssize_t got = pread(file.fd.get(), mark.salts.data(), mark.salts.size(), kSaltOffset);
  mark.has_wal = mark.wal_size >= kWalHeaderBytes && got == ssize_t{8};
  return mark;
}

bool still_consistent(const WalMark& before, const WalMark& after) {
  if (before.db_inode != after.db_inode || before.wal_inode != after.wal_inode ||
      before.has_wal != after.has_wal) {
    return false;
  }
  if (before.has_wal) {
    // A WAL is only ever cut short when it starts anew.
    return before.salts == after.salts && before.wal_size <= after.wal_size;
  }
  return !before.db_is_fresh && before.db_size == after.db_size &&
         same_time(before.db_changed, after.db_changed) &&
         same_time(before.db_modified, after.db_modified);
}

Step<ReadLock> ReadLock::take(const SourceDir& source, const std::string& name, bool database,
                              std::chrono::milliseconds patience) {
  ReadLock lock;
  Step<std::optional<SourceFile>> file = open_source(source, name);
  if (file.fault() != nullptr) {
    return *file.fault();
  }
  if (!*file.value()) {
    return lock;
  }
  Fd fd = std::move((*file.value())->fd);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (
      !(database ? lock_database(fd.get()) : set_lock(fd.get(), F_RDLCK, kCheckpointLockByte, 1))) {
    if (std::chrono::steady_clock::now() >= end) {
      return lock;
    }
    std::this_thread::sleep_for(kLockPause);
  }
  lock.fd_ = std::move(fd);
  return lock;
}

Step<ReadLock> ReadLock::on_database(const SourceDir& source, std::chrono::milliseconds patience) {
  return take(source, source.name, true, patience);
}

Step<ReadLock> ReadLock::on_checkpoints(const SourceDir& source,
                                        std::chrono::milliseconds patience) {
  return take(source, source.name + "-shm", false, patience);
}

}  // namespace aasm::verifier
