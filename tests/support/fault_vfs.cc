#include "support/fault_vfs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <sqlite3.h>

namespace aasm::test {
namespace {

struct Change {
  sqlite3_int64 offset = 0;
  std::string bytes;
  bool truncates = false;  // to `offset`
};

// What the disk holds for sure, and what was done since the last sync.
struct Disk {
  std::string durable;
  std::vector<Change> pending;
};

struct Plan {
  Fault fault = Fault::kNone;
  int at = 0;
  int count = 0;
  bool hit = false;
  std::mutex mutex;
  std::map<std::string, Disk> disks;
};

Plan& plan() {
  static Plan the_plan;
  return the_plan;
}

sqlite3_vfs* real_vfs() {
  static sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
  return vfs;
}

void play(const Change& change, std::string& content) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (change.truncates) {
    content.resize(offset);
    return;
  }
  content.resize(std::max(content.size(), offset + change.bytes.size()));
  content.replace(offset, change.bytes.size(), change.bytes);
}

std::string read_file(const std::string& path) {
  std::string content;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char buffer[65536];
  for (ssize_t got = 0; fd >= 0 && (got = read(fd, buffer, sizeof buffer)) > 0;) {
    content.append(buffer, static_cast<std::size_t>(got));
  }
  close(fd);
  return content;
}

void write_file(const std::string& path, const std::string& content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    abort();
  }
  close(fd);
}

std::string survivor(const Disk& disk, Fault fault) {
  std::string content = disk.durable;
  for (std::size_t i = 0; i < disk.pending.size(); ++i) {
    Change change = disk.pending[i];
    const bool last = i + 1 == disk.pending.size();
    if (fault == Fault::kCutLosesAll || (fault == Fault::kCutKeepsOdd && i % 2 == 0)) {
      continue;
    }
    if (fault == Fault::kCutTears && last) {
      change.bytes.resize(change.bytes.size() / 2);
    }
    play(change, content);
  }
  return content;
}

[[noreturn]] void end_process(Plan& the) {
  if (the.fault != Fault::kKill) {
    for (const auto& [path, disk] : the.disks) {
      // Only under the name that it was opened by; a file renamed since was synced before.
      if (access(path.c_str(), F_OK) == 0 || !disk.durable.empty()) {
        write_file(path, survivor(disk, the.fault));
      }
      unlink((path + "-shm").c_str());
    }
  }
  _exit(kExitCut);
}

// Counts one operation; SQLITE_OK, or how it fails.
int step(int full_code, int io_code) {
  Plan& the = plan();
  ++the.count;
  const bool now = the.count == the.at;
  const bool past = the.at != 0 && the.count >= the.at;
  the.hit = the.hit || (now && the.fault != Fault::kNone);
  switch (the.fault) {
    case Fault::kNone:
      return SQLITE_OK;
    case Fault::kKill:
    case Fault::kCutLosesAll:
    case Fault::kCutKeepsOdd:
    case Fault::kCutTears:
      if (now) {
        end_process(the);
      }
      return SQLITE_OK;
    case Fault::kFull:
      return past ? full_code : SQLITE_OK;
    case Fault::kIoError:
      return past ? io_code : SQLITE_OK;
    case Fault::kIoErrorOnce:
      return now ? io_code : SQLITE_OK;
  }
  return SQLITE_OK;
}

struct File {
  sqlite3_file base;
  std::string* path;  // null when the file is not followed
  sqlite3_file* real;
};

File& of(sqlite3_file* file) {
  // SAFETY: SQLite hands back what open_file() filled.
  return *reinterpret_cast<File*>(file);
}

Disk& disk_of(const File& file) {
  return plan().disks[*file.path];
}

int close_file(sqlite3_file* file) {
  File& self = of(file);
  const int code = self.real->pMethods->xClose(self.real);
  delete self.path;
  return code;
}

int write_file_at(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  File& self = of(file);
  if (self.path == nullptr) {
    return self.real->pMethods->xWrite(self.real, bytes, size, offset);
  }
  const std::lock_guard lock(plan().mutex);
  disk_of(self).pending.push_back(
      {offset, std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)),
       false});
  const int code = step(SQLITE_FULL, SQLITE_IOERR_WRITE);
  return code != SQLITE_OK ? code : self.real->pMethods->xWrite(self.real, bytes, size, offset);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  File& self = of(file);
  if (self.path == nullptr) {
    return self.real->pMethods->xTruncate(self.real, size);
  }
  const std::lock_guard lock(plan().mutex);
  disk_of(self).pending.push_back({size, {}, true});
  const int code = step(SQLITE_IOERR_TRUNCATE, SQLITE_IOERR_TRUNCATE);
  return code != SQLITE_OK ? code : self.real->pMethods->xTruncate(self.real, size);
}

int sync_file(sqlite3_file* file, int flags) {
  File& self = of(file);
  if (self.path == nullptr) {
    return self.real->pMethods->xSync(self.real, flags);
  }
  const std::lock_guard lock(plan().mutex);
  const int code = step(SQLITE_IOERR_FSYNC, SQLITE_IOERR_FSYNC);
  if (code == SQLITE_OK) {  // the disk is ours, so nothing is really synced
    Disk& disk = disk_of(self);
    for (const Change& change : disk.pending) {
      play(change, disk.durable);
    }
    disk.pending.clear();
  }
  return code;
}

template <auto Method, class... Args>
int forward(sqlite3_file* file, Args... args) {
  File& self = of(file);
  return (self.real->pMethods->*Method)(self.real, args...);
}

void barrier(sqlite3_file* file) {
  of(file).real->pMethods->xShmBarrier(of(file).real);
}

const sqlite3_io_methods& methods() {
  using M = sqlite3_io_methods;
  static const M kMethods = {2,
                             close_file,
                             forward<&M::xRead, void*, int, sqlite3_int64>,
                             write_file_at,
                             truncate_file,
                             sync_file,
                             forward<&M::xFileSize, sqlite3_int64*>,
                             forward<&M::xLock, int>,
                             forward<&M::xUnlock, int>,
                             forward<&M::xCheckReservedLock, int*>,
                             forward<&M::xFileControl, int, void*>,
                             forward<&M::xSectorSize>,
                             forward<&M::xDeviceCharacteristics>,
                             forward<&M::xShmMap, int, int, int, void volatile**>,
                             forward<&M::xShmLock, int, int, int>,
                             barrier,
                             forward<&M::xShmUnmap, int>,
                             nullptr,
                             nullptr};
  return kMethods;
}

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  static_cast<void>(vfs);
  File& self = of(file);
  self.base.pMethods = nullptr;
  self.path = nullptr;
  self.real = reinterpret_cast<sqlite3_file*>(&self + 1);
  const bool followed = name != nullptr && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0;
  const int code = real_vfs()->xOpen(real_vfs(), name, self.real, flags, out_flags);
  if (code != SQLITE_OK) {
    return code;
  }
  if (followed) {
    const std::lock_guard lock(plan().mutex);
    self.path = new std::string(name);
    // Of a file that was there what it holds is taken to be on the disk.
    plan().disks.try_emplace(*self.path, Disk{read_file(*self.path), {}});
  }
  self.base.pMethods = &methods();
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  static_cast<void>(vfs);
  const std::lock_guard lock(plan().mutex);
  const auto disk = plan().disks.find(name);
  if (disk != plan().disks.end()) {
    const int code = step(SQLITE_IOERR_DELETE, SQLITE_IOERR_DELETE);
    if (code != SQLITE_OK) {
      return code;
    }
    // Until the directory is synced a power cut may bring the old file back.
    disk->second.pending.push_back({0, {}, true});
  }
  return real_vfs()->xDelete(real_vfs(), name, sync_directory);
}

}  // namespace

void plan_fault(Fault fault, int at) {
  plan().fault = fault;
  plan().at = at;
  static sqlite3_vfs vfs = *real_vfs();
  vfs.zName = "fault";
  vfs.szOsFile = static_cast<int>(sizeof(File)) + real_vfs()->szOsFile;
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  sqlite3_vfs_register(&vfs, 1);
}

int num_operations() {
  return plan().count;
}
bool fault_hit() {
  return plan().hit;
}

}  // namespace aasm::test
