// Names: making, removing, moving and linking them where no grant covers it.

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

int leak_file(const std::string& path) {
  return leak_from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// FILE NAME: a second name of the file inside a grant, read through it.
int link_and_read(const Args& args) {
  const int result = result_of(::link(args[0].c_str(), args[1].c_str()));
  return result != 0 ? result : leak_file(args[1]);
}

int symlink_and_read(const Args& args) {
  const int result = result_of(::symlink(args[0].c_str(), args[1].c_str()));
  return result != 0 ? result : leak_file(args[1]);
}

int symlink_and_write(const Args& args) {
  int result = result_of(::symlink(args[0].c_str(), args[1].c_str()));
  const int fd = result != 0 ? -1 : ::open(args[1].c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (result == 0) {
    result = fd < 0 ? errno : result_of(::write(fd, "taken", 5));
  }
  return result;
}

// DIR LINK NAME: a link to the directory, and a name below the link.
int symlink_to_directory_and_read(const Args& args) {
  const int result = result_of(::symlink(args[0].c_str(), args[1].c_str()));
  return result != 0 ? result : leak_file(args[1] + "/" + args[2]);
}

// A name of a handle, for which no right is needed.
int link_handle(const Args& args) {
  const int handle = ::open(args[0].c_str(), O_PATH | O_CLOEXEC);
  const std::string name = "/proc/self/fd/" + std::to_string(handle);
  const int result =
      result_of(::linkat(AT_FDCWD, name.c_str(), AT_FDCWD, args[1].c_str(), AT_SYMLINK_FOLLOW));
  return result != 0 ? result : leak_file(args[1]);
}

int rename_and_read(const Args& args) {
  const int result = result_of(::rename(args[0].c_str(), args[1].c_str()));
  return result != 0 ? result : leak_file(args[1]);
}

int exchange(const Args& args) {
  return result_of(::syscall(SYS_renameat2, AT_FDCWD, args[0].c_str(), AT_FDCWD, args[1].c_str(),
                             RENAME_EXCHANGE));
}

int replace(const Args& args) {
  const int fd = ::open(args[0].c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0 || ::write(fd, "taken", 5) != 5) {
    return errno;
  }
  ::close(fd);
  return result_of(::rename(args[0].c_str(), args[1].c_str()));
}

int make_socket(const Args& args) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::snprintf(name.sun_path, sizeof name.sun_path, "%s", args[0].c_str());
  return fd < 0 ? errno : result_of(::bind(fd, reinterpret_cast<sockaddr*>(&name), sizeof name));
}

int make_fifo(const Args& args) {
  return result_of(::mkfifo(args[0].c_str(), 0644));
}

// NAME MAJOR MINOR, read through it.
int make_device(const Args& args) {
  const dev_t device =
      ::makedev(static_cast<unsigned>(number(args[1])), static_cast<unsigned>(number(args[2])));
  const int result = result_of(::mknod(args[0].c_str(), S_IFCHR | 0600, device));
  return result != 0 ? result : leak_file(args[0]);
}

// DIR MANY: as deep as that, then down again by handles, so that no path is ever long.
int make_deep_and_escape(const Args& args) {
  int directory = ::open(args[0].c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (int i = 0; i < number(args[1]); ++i) {
    ::mkdirat(directory, "d", 0755);
    const int next = ::openat(directory, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(directory);
    directory = next;
  }
  for (int i = 0; i < number(args[1]) + 1; ++i) {
    const int next = ::openat(directory, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ::close(directory);
    directory = next;
  }
  return leak_from(::openat(directory, args[2].c_str(), O_RDONLY | O_CLOEXEC));
}

// OUTSIDE-DIR INSIDE-DIR NAME: the working directory moves out by chdir; the name is relative.
int chdir_and_read(const Args& args) {
  const int result = result_of(::chdir(args[0].c_str()));
  return result != 0 ? result : leak_file(args[1]);
}

}  // namespace

const Attempts& path_attempts() {
  static const Attempts list = {
      {"link_and_read", 2, link_and_read},
      {"symlink_and_read", 2, symlink_and_read},
      {"symlink_and_write", 2, symlink_and_write},
      {"symlink_to_directory_and_read", 3, symlink_to_directory_and_read},
      {"link_handle", 2, link_handle},
      {"rename_and_read", 2, rename_and_read},
      {"rename", 2, [](const Args& a) { return result_of(::rename(a[0].c_str(), a[1].c_str())); }},
      {"link", 2, [](const Args& a) { return result_of(::link(a[0].c_str(), a[1].c_str())); }},
      {"symlink", 2,
       [](const Args& a) { return result_of(::symlink(a[0].c_str(), a[1].c_str())); }},
      {"exchange", 2, exchange},
      {"replace", 2, replace},
      {"mkdir", 1, [](const Args& a) { return result_of(::mkdir(a[0].c_str(), 0755)); }},
      {"rmdir", 1, [](const Args& a) { return result_of(::rmdir(a[0].c_str())); }},
      {"unlink", 1, [](const Args& a) { return result_of(::unlink(a[0].c_str())); }},
      {"make_fifo", 1, make_fifo},
      {"make_socket", 1, make_socket},
      {"make_device", 3, make_device},
      {"make_deep_and_escape", 3, make_deep_and_escape},
      {"chdir_and_read", 2, chdir_and_read},
  };
  return list;
}

}  // namespace attacks
