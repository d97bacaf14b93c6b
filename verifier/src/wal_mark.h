#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "source_file.h"

namespace aasm::verifier {

// What tells whether a database and its WAL still belong together: while the salts of the WAL
// header stay, every page that a checkpoint moves into the database is still in the WAL, so a copy
// of the database followed by a copy of the WAL is sound (https://www.sqlite.org/walformat.html).
// Without a WAL the database must not have changed at all.
struct WalMark {
  bool has_wal = false;  // of at least a header's length
  std::array<std::uint8_t, 8> salts{};
  std::uint64_t wal_inode = 0;
  std::uint64_t wal_size = 0;
  struct timespec db_changed {};
  struct timespec db_modified {};
  std::uint64_t db_inode = 0;
  std::uint64_t db_size = 0;
  // The database was written so lately that one more write could leave its timestamps as they are.
  bool db_is_fresh = false;
};

Step<WalMark> read_wal_mark(const SourceDir& source);

// Whether nothing between the two marks can have torn a copy.
bool still_consistent(const WalMark& before, const WalMark& after);

// Shared locks of the kind that SQLite's own readers take (os_unix.c), for when copying goes on
// being overtaken. Nothing is written to the files; a lock ends with the object.
class ReadLock {
 public:
  // On the database: while it is held nobody can fold a WAL away by closing, or commit through a
  // rollback journal.
  static Step<ReadLock> on_database(const SourceDir& source, std::chrono::milliseconds patience);
  // On the checkpoint byte of an existing -shm file: while it is held no process can checkpoint, so
  // at most one more restart of the WAL is possible.
  static Step<ReadLock> on_checkpoints(const SourceDir& source, std::chrono::milliseconds patience);

  // False when there is no such file or the lock stayed taken for all of `patience`.
  bool held() const { return fd_.valid(); }

 private:
  static Step<ReadLock> take(const SourceDir& source, const std::string& name, bool database,
                             std::chrono::milliseconds patience);

  Fd fd_;  // the open file description owns the lock (fcntl(2), F_OFD_SETLK)
};

}  // namespace aasm::verifier
