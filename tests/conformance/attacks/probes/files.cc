// Opening, reading and writing files that no grant covers.

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

int open_path(const std::string& path, int flags) {
  return ::open(path.c_str(), flags | O_CLOEXEC, 0644);
}

int read_file(const Args& args) {
  return leak_from(open_path(args[0], O_RDONLY));
}

int list_directory(const Args& args) {
  DIR* directory = ::opendir(args[0].c_str());
  if (directory == nullptr) {
    return errno;
  }
  while (const dirent* entry = ::readdir(directory)) {
    leak(entry->d_name, std::strlen(entry->d_name));
  }
  ::closedir(directory);
  return 0;
}

// DIR NAME: a directory handle that needs no right, then a name below it.
int read_below_handle(const Args& args) {
  const int directory = open_path(args[0], O_PATH | O_DIRECTORY);
  if (directory < 0) {
    return errno;
  }
  return leak_from(::openat(directory, args[1].c_str(), O_RDONLY | O_CLOEXEC));
}

std::string own_link(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// A handle of the file itself, turned into one that reads.
int reopen_handle(const Args& args) {
  const int handle = open_path(args[0], O_PATH);
  return handle < 0 ? errno : leak_from(open_path(own_link(handle), O_RDONLY));
}

int reopen_handle_for_writing(const Args& args) {
  const int handle = open_path(args[0], O_PATH);
  if (handle < 0) {
    return errno;
  }
  const int fd = open_path(own_link(handle), O_WRONLY);
  return fd < 0 ? errno : result_of(::write(fd, "taken", 5));
}

// FILE: granted for reading; opened so, and opened again for writing through its descriptor.
int upgrade_descriptor(const Args& args) {
  const int reading = open_path(args[0], O_RDONLY);
  if (reading < 0) {
    return errno;
  }
  const int writing = open_path(own_link(reading), O_WRONLY);
  return writing < 0 ? errno : result_of(::write(writing, "taken", 5));
}

// DIR NAME: the directory made the root of the walk.
int read_in_root(const Args& args) {
  const int directory = open_path(args[0], O_PATH | O_DIRECTORY);
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  return leak_from(
      static_cast<int>(::syscall(SYS_openat2, directory, args[1].c_str(), &how, sizeof how)));
}

// Nearly PATH_MAX bytes that lead to the same file.
int read_by_long_name(const Args& args) {
  std::string path = args[0].substr(0, 1);
  while (path.size() + args[0].size() + 2 < 4095) {
    path += "./";
  }
  return leak_from(open_path(path + args[0].substr(1), O_RDONLY));
}

int write_with(const std::string& path, int flags) {
  const int fd = open_path(path, flags);
  if (fd < 0) {
    return errno;
  }
  const int result = result_of(::write(fd, "taken", 5));
  ::close(fd);
  return result;
}

int open_for_writing(const Args& args) {
  const int fd = open_path(args[0], O_WRONLY);
  const int result = result_of(fd);
  ::close(fd);
  return result;
}

int open_for_reading(const Args& args) {
  const int fd = open_path(args[0], O_RDONLY);
  const int result = result_of(fd);
  ::close(fd);
  return result;
}

int truncate_by_open(const Args& args) {
  const int fd = open_path(args[0], O_RDONLY | O_TRUNC);
  return result_of(fd);
}

// DIR: a file without a name, given one afterwards.
int write_unnamed(const Args& args) {
  const int fd = open_path(args[0], O_TMPFILE | O_WRONLY);
  if (fd < 0) {
    return errno;
  }
  const std::string name = args[0] + "/named";
  return result_of(
      ::linkat(AT_FDCWD, own_link(fd).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW));
}

// FILE SIZE: a file of that length that takes no room.
int make_sparse(const Args& args) {
  const int fd = open_path(args[0], O_WRONLY | O_CREAT);
  return fd < 0 ? errno : result_of(::ftruncate(fd, std::atoll(args[1].c_str())));
}

// FILE: written through a mapping of it.
int write_by_mapping(const Args& args) {
  const int fd = open_path(args[0], O_RDWR);
  if (fd < 0) {
    return errno;
  }
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page == MAP_FAILED) {
    return errno;
  }
  std::memcpy(page, "taken", 5);
  return 0;
}

}  // namespace

const Attempts& file_attempts() {
  static const Attempts list = {
      {"read", 1, read_file},
      {"list", 1, list_directory},
      {"read_below_handle", 2, read_below_handle},
      {"reopen_handle", 1, reopen_handle},
      {"reopen_handle_for_writing", 1, reopen_handle_for_writing},
      {"upgrade_descriptor", 1, upgrade_descriptor},
      {"read_in_root", 2, read_in_root},
      {"read_by_long_name", 1, read_by_long_name},
      {"write", 1, [](const Args& a) { return write_with(a[0], O_WRONLY); }},
      {"append", 1, [](const Args& a) { return write_with(a[0], O_WRONLY | O_APPEND); }},
      {"read_write", 1, [](const Args& a) { return write_with(a[0], O_RDWR); }},
      {"create", 1, [](const Args& a) { return write_with(a[0], O_WRONLY | O_CREAT); }},
      {"open_for_writing", 1, open_for_writing},
      {"open_for_reading", 1, open_for_reading},
      {"truncate", 1, [](const Args& a) { return result_of(::truncate(a[0].c_str(), 0)); }},
      {"truncate_by_open", 1, truncate_by_open},
      {"write_unnamed", 1, write_unnamed},
      {"make_sparse", 2, make_sparse},
      {"write_by_mapping", 1, write_by_mapping},
  };
  return list;
}

}  // namespace attacks
