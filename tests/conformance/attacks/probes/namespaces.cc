// Namespaces and mounts, which change what paths mean and what capabilities a process has. What
// goes through happens in a child's own namespaces, or is a handle that nothing is attached to.

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

// FLAGS, the high half of the register included.
int unshare_flags(const Args& args) {
  return in_child([&args] { return result_of(::unshare(number(args[0]))); });
}

int clone_with_flags(const Args& args) {
  const long pid =
      ::syscall(SYS_clone, number(args[0]) | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (pid == 0) {
    ::_exit(0);
  }
  const int result = result_of(pid);
  ::waitpid(static_cast<int>(pid), nullptr, 0);
  return result;
}

int clone3_with_flags(const Args& args) {
  clone_args clone{};
  clone.flags = static_cast<unsigned>(number(args[0]));
  clone.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &clone, sizeof clone);
  if (pid == 0) {
    ::_exit(0);
  }
  const int result = result_of(pid);
  ::waitpid(static_cast<int>(pid), nullptr, 0);
  return result;
}

int enter_namespace(const Args& args) {
  const int fd = ::open(args[0].c_str(), O_RDONLY | O_CLOEXEC);
  return fd < 0 ? errno : result_of(::setns(fd, 0));
}

// Makes the mount namespace that the call below it changes. Where that is refused the call is made
// all the same: a filter answers it before the kernel asks who may.
void own_mounts() {
  if (::unshare(CLONE_NEWNS) == 0) {
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  }
}

int mount_empty(const Args& args) {
  return in_child([&args] {
    own_mounts();
    return result_of(::mount("none", args[0].c_str(), "tmpfs", 0, nullptr));
  });
}

// FROM TO: what stands at FROM appears at TO, and is read or written there.
int mount_over(const Args& args) {
  return in_child([&args] {
    own_mounts();
    const int result =
        result_of(::mount(args[0].c_str(), args[1].c_str(), nullptr, MS_BIND, nullptr));
    return result != 0 ? result : leak_from(::open(args[1].c_str(), O_RDONLY | O_CLOEXEC));
  });
}

int mount_in_user_namespace(const Args& args) {
  return in_child([&args] {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
      return errno;
    }
    const int result =
        result_of(::mount(args[0].c_str(), args[1].c_str(), nullptr, MS_BIND, nullptr));
    return result != 0 ? result : leak_from(::open(args[1].c_str(), O_RDONLY | O_CLOEXEC));
  });
}

int open_tree(const Args& args) {
  return result_of(
      ::syscall(SYS_open_tree, AT_FDCWD, args[0].c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
}

int open_filesystem(const Args&) {
  return result_of(::syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC));
}

// DIR NAME: the directory made the root of a child, in which the name is read.
int change_root_and_read(const Args& args) {
  return in_child([&args] {
    const int result = result_of(::chroot(args[0].c_str()));
    return result != 0 ? result : leak_from(::open(args[1].c_str(), O_RDONLY | O_CLOEXEC));
  });
}

struct Handle {
  file_handle head;
  unsigned char bytes[MAX_HANDLE_SZ];
};

int name_handle(const std::string& path, Handle* handle) {
  int mount_id = 0;
  handle->head.handle_bytes = MAX_HANDLE_SZ;
  return result_of(::name_to_handle_at(AT_FDCWD, path.c_str(), &handle->head, &mount_id, 0));
}

int ask_handle(const Args& args) {
  Handle handle{};
  return name_handle(args[0], &handle);
}

// FILE DIR HEX: opens a file by a handle that somebody made outside.
int open_by_handle(const Args& args) {
  Handle handle{};
  const std::string& hex = args[1];
  for (std::size_t i = 0; i + 1 < hex.size() && i / 2 < sizeof handle; i += 2) {
    reinterpret_cast<unsigned char*>(&handle)[i / 2] =
        static_cast<unsigned char>(number("0x" + hex.substr(i, 2)));
  }
  const int mount = ::open(args[0].c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return mount < 0 ? errno
                   : leak_from(::open_by_handle_at(mount, &handle.head, O_RDONLY | O_CLOEXEC));
}

// FILE: prints its handle, for open_by_handle.
int print_handle(const Args& args) {
  Handle handle{};
  const int result = name_handle(args[0], &handle);
  const std::size_t size = sizeof(file_handle) + handle.head.handle_bytes;
  for (std::size_t i = 0; result == 0 && i < size; ++i) {
    std::printf("%02x", reinterpret_cast<unsigned char*>(&handle)[i]);
  }
  std::printf("\n");
  return result;
}

}  // namespace

const Attempts& namespace_attempts() {
  static const Attempts list = {
      {"unshare", 1, unshare_flags},
      {"clone", 1, clone_with_flags},
      {"clone3", 1, clone3_with_flags},
      {"enter_namespace", 1, enter_namespace},
      {"mount_empty", 1, mount_empty},
      {"mount_over", 2, mount_over},
      {"mount_in_user_namespace", 2, mount_in_user_namespace},
      {"open_tree", 1, open_tree},
      {"open_filesystem", 0, open_filesystem},
      {"change_root_and_read", 2, change_root_and_read},
      {"ask_handle", 1, ask_handle},
      {"open_by_handle", 2, open_by_handle},
      {"print_handle", 1, print_handle},
  };
  return list;
}

}  // namespace attacks
