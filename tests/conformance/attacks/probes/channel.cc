// What we were given: descriptors, environment, capabilities, the terminal, and the filter itself.

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "probe.h"

namespace attacks {
namespace {

int read_variable(const Args& args) {
  const char* value = std::getenv(args[0].c_str());
  if (value == nullptr) {
    return ENOENT;
  }
  leak(value, std::strlen(value));
  return 0;
}

int read_descriptor(const Args& args) {
  char data[256];
  const ssize_t got = ::pread(number(args[0]), data, sizeof data, 0);
  if (got < 0) {
    return errno;
  }
  leak(data, static_cast<std::size_t>(got));
  return 0;
}

// FD NAME
int read_below_descriptor(const Args& args) {
  return leak_from(::openat(number(args[0]), args[1].c_str(), O_RDONLY | O_CLOEXEC));
}

int write_descriptor(const Args& args) {
  return result_of(::write(number(args[0]), args[1].c_str(), args[1].size()));
}

// 0 when any descriptor but the three came to us through the exec, which one that closes on exec
// (our own) did not.
int find_descriptor(const Args&) {
  for (int fd = 3; fd < 4096; ++fd) {
    if (::fcntl(fd, F_GETFD) == 0) {
      const std::string text = "descriptor " + std::to_string(fd);
      leak(text.data(), text.size());
      return 0;
    }
  }
  return EBADF;
}

long install_filter(unsigned flags, unsigned answer, int call) {
  sock_filter program[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<unsigned>(call)},
      {BPF_RET | BPF_K, 0, 0, answer},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter = {4, program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

// ANSWER: a filter of our own that says so of unshare, and then the call.
int nest_filter_and_call(const Args& args) {
  const unsigned answer = args[0] == "allow" ? SECCOMP_RET_ALLOW
                          : args[0] == "log" ? SECCOMP_RET_LOG
                                             : SECCOMP_RET_ERRNO | ENOTTY;
  if (install_filter(0, answer, SYS_unshare) < 0) {
    return errno;
  }
  return result_of(::syscall(SYS_unshare, 0));
}

int install_listener(const Args&) {
  const long fd =
      install_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_RET_USER_NOTIF, SYS_unshare);
  return result_of(fd);
}

// TEXT BITS: typed into the terminal that we share with the user's shell. The kernel looks at the
// low half of the request only; BITS go above it.
int type_into_terminal(const Args& args) {
  const unsigned long above = std::strtoul(args[1].c_str(), nullptr, 16) << 32;
  for (const char& character : args[0] + "\n") {
    if (::syscall(SYS_ioctl, 0, TIOCSTI | above, &character) != 0) {
      return errno;
    }
  }
  return 0;
}

// NUMBER: raised into the effective set, as one that the bounding set may hold.
int raise_capability(const Args& args) {
  const int wanted = number(args[0]);
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) {
    return errno;
  }
  data[wanted / 32].effective |= 1U << (wanted % 32);
  data[wanted / 32].permitted |= 1U << (wanted % 32);
  return result_of(::syscall(SYS_capset, &header, data));
}

// PATH: a socket of a service outside.
int connect_to(const Args& args) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::snprintf(name.sun_path, sizeof name.sun_path, "%s", args[0].c_str());
  return fd < 0 ? errno : result_of(::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof name));
}

// NAME: an abstract socket on which somebody outside hands out a descriptor; read from it.
int receive_descriptor(const Args& args) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, args[0].data(), args[0].size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + args[0].size());
  if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&name), size) != 0) {
    return errno;
  }
  char byte = 0;
  iovec one = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &one;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(fd, &message, 0) < 0 || CMSG_FIRSTHDR(&message) == nullptr) {
    return EPROTO;
  }
  int passed = -1;
  std::memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof passed);
  return read_descriptor({std::to_string(passed)});
}

// NUMBER: System V shared memory of somebody else.
int attach_memory(const Args& args) {
  const void* at = ::shmat(number(args[0]), nullptr, SHM_RDONLY);
  const int result = at == reinterpret_cast<void*>(-1) ? errno : 0;
  return result != 0 ? result : result_of(::shmdt(at));
}

// NAME: a POSIX message queue, gone again at once.
int open_queue(const Args& args) {
  const long queue = ::syscall(SYS_mq_open, args[0].c_str(), O_CREAT | O_RDWR, 0600, nullptr);
  const int result = result_of(queue);
  if (result == 0) {
    ::syscall(SYS_mq_unlink, args[0].c_str());
  }
  return result;
}

}  // namespace

const Attempts& channel_attempts() {
  static const Attempts list = {
      {"read_variable", 1, read_variable},
      {"read_descriptor", 1, read_descriptor},
      {"read_below_descriptor", 2, read_below_descriptor},
      {"write_descriptor", 2, write_descriptor},
      {"find_descriptor", 0, find_descriptor},
      {"nest_filter_and_call", 1, nest_filter_and_call},
      {"install_listener", 0, install_listener},
      {"type_into_terminal", 2, type_into_terminal},
      {"raise_capability", 1, raise_capability},
      {"connect", 1, connect_to},
      {"attach_memory", 1, attach_memory},
      {"open_queue", 1, open_queue},
      {"receive_descriptor", 1, receive_descriptor},
  };
  return list;
}

}  // namespace attacks
