#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "flips.h"

// Files: what a call changes in "shut" is a leak.
namespace flips {
namespace {

ino_t inode(const char* name) {
  struct stat status {};
  return ::lstat(name, &status) == 0 ? status.st_ino : 0;
}

// Somebody may be short of descriptors for a while.
int opened(const char* name) {
  int fd = -1;
  for (int i = 0; fd < 0 && i < 100000; ++i) {
    fd = ::open(name, O_RDONLY);
  }
  return fd;
}

void remove_again(const char* name) {
  for (int i = 0; ::unlink(name) != 0 && errno == EMFILE && i < 100000; ++i) {
  }
}

bool same_state(const struct stat& before, const char* name) {
  struct stat now {};
  return ::stat(name, &now) == 0 && now.st_ino == before.st_ino &&
         now.st_ctim.tv_sec == before.st_ctim.tv_sec &&
         now.st_ctim.tv_nsec == before.st_ctim.tv_nsec;
}

long change_attribute(int fd, long i) {
  const std::array<timespec, 2> times = {{{i, 0}, {i, 0}}};
  long flags = 0;
  switch (i % 6) {
    case 0:
      return ::fchmod(fd, i % 4 == 0 ? 0604 : 0640);
    case 1:
      return ::fchown(fd, ::getuid(), ::getgid());
    case 2:
      return ::futimens(fd, times.data());
    case 3:
      return ::fsetxattr(fd, "user.flip", &i, sizeof i, 0);
    case 4:
      return ::fremovexattr(fd, "user.flip");
    default:
      if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) {
        return -1;
      }
      flags ^= FS_NODUMP_FL;
      return ::ioctl(fd, FS_IOC_SETFLAGS, &flags);
  }
}

// Calls on names below one directory that is given by a descriptor.
long change_directory(int at, long i) {
  switch (i % 8) {
    case 0:
      return ::mkdirat(at, "made", 0700);
    case 1:
      return ::unlinkat(at, "made", AT_REMOVEDIR);
    case 2:
      return ::symlinkat("nowhere", at, "link");
    case 3:
      return ::unlinkat(at, "link", 0);
    case 4:
      return ::linkat(at, "name", at, "other", 0);
    case 5:
      return ::unlinkat(at, "other", 0);
    case 6:
      return ::renameat(at, "name", at, "moved");
    default:
      return ::renameat(at, "moved", at, "name");
  }
}

bool is_shut_changed() {
  bool changed = inode("shut/name") == 0;
  for (const char* name : {"shut/made", "shut/link", "shut/other", "shut/moved"}) {
    changed = changed || inode(name) != 0;
  }
  return changed;
}

}  // namespace

Counts flip_attributes(long rounds, const Arguments& /*none*/) {
  Counts counts;
  const std::array<int, 2> ends = {opened("open/name"), opened("shut/name")};
  const int flipped = ::dup(ends[0]);
  struct stat before {};
  ::fstat(ends[1], &before);
  const Flipper flipper([&](int i) { ::dup2(ends.at(static_cast<std::size_t>(i)), flipped); });
  for (long i = 0; i < rounds; ++i) {
    count(counts, change_attribute(flipped, i));
  }
  counts.leaks = same_state(before, "shut/name") ? 0 : 1;
  return counts;
}

Counts flip_links(long rounds, const Arguments& /*none*/) {
  Counts counts;
  FlippingName from("name");
  FlippingName to("link");
  const ino_t secret = inode("shut/name");
  const Flipper first([&](int i) { from.change(i); });
  const Flipper second([&](int i) { to.change(i); });
  for (long i = 0; i < rounds; ++i) {
    if (count(counts, ::link(from.text(), to.text()))) {
      counts.leaks += inode("shut/link") != 0 || inode("open/link") == secret ? 1 : 0;
      remove_again(inode("shut/link") != 0 ? "shut/link" : "open/link");
    }
  }
  return counts;
}

Counts flip_renames(long rounds, const Arguments& /*none*/) {
  Counts counts;
  FlippingName from("name");
  FlippingName to("moved");
  const ino_t secret = inode("shut/name");
  const Flipper first([&](int i) { from.change(i); });
  const Flipper second([&](int i) { to.change(i); });
  for (long i = 0; i < rounds; ++i) {
    const unsigned flags = i % 2 == 0 ? 0 : RENAME_NOREPLACE;
    if (count(counts, ::renameat2(AT_FDCWD, from.text(), AT_FDCWD, to.text(), flags))) {
      counts.leaks += inode("shut/name") != secret || inode("shut/moved") != 0 ? 1 : 0;
      const char* now = inode("shut/moved") != 0 ? "shut/moved" : "open/moved";
      ::rename(now, inode(now) == secret ? "shut/name" : "open/name");
    }
  }
  return counts;
}

Counts flip_exchanges(long rounds, const Arguments& /*none*/) {
  Counts counts;
  FlippingName from("name");
  FlippingName to("more");
  const ino_t secret = inode("shut/name");
  const ino_t other = inode("shut/more");
  const Flipper first([&](int i) { from.change(i); });
  const Flipper second([&](int i) { to.change(i); });
  for (long i = 0; i < rounds; ++i) {
    if (count(counts, ::renameat2(AT_FDCWD, from.text(), AT_FDCWD, to.text(), RENAME_EXCHANGE))) {
      counts.leaks += inode("shut/name") != secret || inode("shut/more") != other ? 1 : 0;
    }
  }
  return counts;
}

Counts flip_directories(long rounds, const Arguments& /*none*/) {
  Counts counts;
  const std::array<int, 2> ends = {::open("open", O_PATH), ::open("shut", O_PATH)};
  const int flipped = ::dup(ends[0]);
  const Flipper flipper([&](int i) { ::dup2(ends.at(static_cast<std::size_t>(i)), flipped); });
  for (long i = 0; i < rounds; ++i) {
    if (count(counts, change_directory(flipped, i))) {
      counts.leaks += is_shut_changed() ? 1 : 0;
    }
  }
  return counts;
}

// What may be read and not written, and how it is opened, in turn.
Counts flip_open_how(long rounds, const Arguments& /*none*/) {
  Counts counts;
  FlippingName name("name");
  const ino_t secret = inode("shut/name");
  volatile open_how how = {};
  const Flipper first([&](int i) { name.change(i); });
  const Flipper second([&](int i) { how.flags = i == 0 ? O_RDONLY : O_WRONLY | O_TRUNC; });
  const Flipper third([&](int i) { how.resolve = i == 0 ? 0 : RESOLVE_BENEATH; });
  for (long i = 0; i < rounds; ++i) {
    const auto fd =
        static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, name.text(), &how, sizeof how));
    if (count(counts, fd)) {
      struct stat status {};
      ::fstat(fd, &status);
      const bool writes = (::fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY;
      counts.leaks += status.st_ino == secret && (writes || status.st_size == 0) ? 1 : 0;
      ::close(fd);
    }
  }
  return counts;
}

}  // namespace flips
