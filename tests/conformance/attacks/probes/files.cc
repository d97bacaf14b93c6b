// Opening, reading and writing files that no grant covers.

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
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

struct Flip {
  char* path;
  const char* good;
  const char* bad;
  volatile bool stop;
};

void* flip_path(void* argument) {
  Flip* flip = static_cast<Flip*>(argument);
  while (!flip->stop) {
    std::strcpy(flip->path, flip->bad);
    std::strcpy(flip->path, flip->good);
  }
  return nullptr;
}

bool reads_other_than_granted(const char* path) {
  const int fd = open_path(path, O_RDONLY);
  char data[256] = {};
  const ssize_t got = fd < 0 ? 0 : ::read(fd, data, sizeof data - 1);
  ::close(fd);
  if (got <= 0 || std::strncmp(data, "granted", 7) == 0) {
    return false;
  }
  leak(data, static_cast<std::size_t>(got));
  return true;
}

// GRANTED SECRET TIMES: one thread opens a buffer whose path another changes under it. 0 when one
// open of TIMES read what GRANTED does not hold.
int race_path(const Args& args) {
  static char path[4096];
  std::strcpy(path, args[0].c_str());
  Flip flip = {path, args[0].c_str(), args[1].c_str(), false};
  pthread_t thread{};
  if (::pthread_create(&thread, nullptr, flip_path, &flip) != 0) {
    return ENOSYS;
  }
  int result = EACCES;
  for (int i = 0; i < number(args[2]) && result != 0; ++i) {
    result = reads_other_than_granted(path) ? 0 : EACCES;
  }
  flip.stop = true;
  ::pthread_join(thread, nullptr);
  return result;
}

[[noreturn]] void flip_link(const Args& args) {
  const std::string next = args[0] + ".next";
  for (int i = 0; i < 1000000 && ::getppid() != 1; ++i) {
    [[maybe_unused]] int ignored = ::symlink(args[i % 2 == 0 ? 2 : 1].c_str(), next.c_str());
    ignored = ::rename(next.c_str(), args[0].c_str());
  }
  ::_exit(0);
}

// LINK GRANTED SECRET TIMES: as race_path, with a symbolic link that a child keeps replacing.
int race_link(const Args& args) {
  const int child = ::fork();
  if (child == 0) {
    flip_link(args);
  }
  int result = EACCES;
  for (int i = 0; i < number(args[3]) && result != 0; ++i) {
    result = reads_other_than_granted(args[0].c_str()) ? 0 : EACCES;
  }
  ::kill(child, SIGKILL);
  return result;
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
      {"race_path", 3, race_path},
      {"race_link", 4, race_link},
  };
  return list;
}

}  // namespace attacks
