// What Landlock does not restrict: attributes, and looking at names.

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

int look_at(const Args& args) {
  struct stat status {};
  const int result = result_of(::stat(args[0].c_str(), &status));
  if (result == 0) {
    char text[64];
    const int size =
        std::snprintf(text, sizeof text, "size %lld", static_cast<long long>(status.st_size));
    leak(text, static_cast<std::size_t>(size));
  }
  return result;
}

int read_link(const Args& args) {
  char target[4096];
  const ssize_t size = ::readlink(args[0].c_str(), target, sizeof target);
  if (size < 0) {
    return errno;
  }
  leak(target, static_cast<std::size_t>(size));
  return 0;
}

int set_times(const Args& args) {
  const timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
  return result_of(::utimensat(AT_FDCWD, args[0].c_str(), times, 0));
}

int set_attribute(const Args& args) {
  return result_of(::setxattr(args[0].c_str(), "user.attack", "taken", 5, 0));
}

int get_attribute(const Args& args) {
  char value[256];
  const ssize_t size = ::getxattr(args[0].c_str(), args[1].c_str(), value, sizeof value);
  if (size < 0) {
    return errno;
  }
  leak(value, static_cast<std::size_t>(size));
  return 0;
}

// DIR: is told of what others do in it, which names they use included.
int watch_directory(const Args& args) {
  const int watch = ::inotify_init1(IN_CLOEXEC);
  return watch < 0 ? errno
                   : result_of(::inotify_add_watch(watch, args[0].c_str(), IN_CREATE | IN_MODIFY));
}

int watch_directory_by_fanotify(const Args& args) {
  const int watch = ::fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_REPORT_DFID_NAME, O_RDONLY);
  return watch < 0 ? errno
                   : result_of(::fanotify_mark(watch, FAN_MARK_ADD | FAN_MARK_ONLYDIR, FAN_CREATE,
                                               AT_FDCWD, args[0].c_str()));
}

// Attributes of the file system, without opening the file (Linux 6.17).
int set_flags(const Args& args) {
  struct {
    unsigned long long flags;
    unsigned rest[4];
  } attributes = {};
  constexpr long kFileSetattr = 469;
  constexpr unsigned long long kNoDump = 0x80;
  attributes.flags = kNoDump;
  return result_of(
      ::syscall(kFileSetattr, AT_FDCWD, args[0].c_str(), &attributes, sizeof attributes, 0));
}

// On a handle, which needs no right to get.
int change_mode_by_handle(const Args& args) {
  const int handle = ::open(args[0].c_str(), O_PATH | O_CLOEXEC);
  const std::string name = "/proc/self/fd/" + std::to_string(handle);
  return result_of(::chmod(name.c_str(), static_cast<mode_t>(number(args[1]))));
}

// On a descriptor that was opened for reading.
int change_mode_by_reading(const Args& args) {
  const int file = ::open(args[0].c_str(), O_RDONLY | O_CLOEXEC);
  return file < 0 ? errno : result_of(::fchmod(file, static_cast<mode_t>(number(args[1]))));
}
int set_attribute_by_reading(const Args& args) {
  const int file = ::open(args[0].c_str(), O_RDONLY | O_CLOEXEC);
  return file < 0 ? errno : result_of(::fsetxattr(file, "user.attack", "taken", 5, 0));
}
int set_flags_by_reading(const Args& args) {
  const int file = ::open(args[0].c_str(), O_RDONLY | O_CLOEXEC);
  int flags = 0;  // those that a file system has on each file cannot be left out
  if (file < 0 || ::ioctl(file, FS_IOC_GETFLAGS, &flags) != 0) {
    return errno;
  }
  flags |= FS_NODUMP_FL;
  return result_of(::ioctl(file, FS_IOC_SETFLAGS, &flags));
}

}  // namespace

const Attempts& attribute_attempts() {
  static const Attempts list = {
      {"stat", 1, look_at},
      {"access", 1, [](const Args& a) { return result_of(::access(a[0].c_str(), F_OK)); }},
      {"readlink", 1, read_link},
      {"chdir", 1, [](const Args& a) { return result_of(::chdir(a[0].c_str())); }},
      {"chmod", 2,
       [](const Args& a) {
         return result_of(::chmod(a[0].c_str(), static_cast<mode_t>(number(a[1]))));
       }},
      {"change_mode_by_handle", 2, change_mode_by_handle},
      {"change_mode_by_reading", 2, change_mode_by_reading},
      {"set_attribute_by_reading", 1, set_attribute_by_reading},
      {"set_flags_by_reading", 1, set_flags_by_reading},
      {"chown", 2,
       [](const Args& a) {
         const auto user = static_cast<uid_t>(number(a[1]));
         return result_of(::lchown(a[0].c_str(), user, user));
       }},
      {"statfs", 1,
       [](const Args& a) {
         struct statfs status {};
         return result_of(::statfs(a[0].c_str(), &status));
       }},
      {"list_attributes", 1,
       [](const Args& a) {
         char names[4096];
         return result_of(::listxattr(a[0].c_str(), names, sizeof names));
       }},
      {"remove_attribute", 2,
       [](const Args& a) { return result_of(::removexattr(a[0].c_str(), a[1].c_str())); }},
      {"watch_directory", 1, watch_directory},
      {"watch_directory_by_fanotify", 1, watch_directory_by_fanotify},
      {"set_flags", 1, set_flags},
      {"set_times", 1, set_times},
      {"set_attribute", 1, set_attribute},
      {"get_attribute", 2, get_attribute},
  };
  return list;
}

}  // namespace attacks
