#pragma once

#include <asm/unistd.h>
#include <stddef.h>  // NOLINT(modernize-deprecated-headers): there is no C++ library here.
#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

#if defined(__x86_64__)
#include "arch_x86_64.h"
#elif defined(__aarch64__)
#include "arch_aarch64.h"
#else
#error "the launch helper knows x86_64 and aarch64"
#endif

// System calls without a libc. A result below zero is a negative errno. Constants are the kernel's,
// under their own names where linux-libc-dev of the oldest supported distribution lacks them.
namespace aasm::helper {

inline constexpr int kEnoent = 2;
inline constexpr int kEintr = 4;
inline constexpr int kEchild = 10;
inline constexpr int kEagain = 11;
inline constexpr int kEacces = 13;
inline constexpr int kEexist = 17;
inline constexpr int kEisdir = 21;
inline constexpr int kEinval = 22;
inline constexpr int kEfbig = 27;
inline constexpr int kEnametoolong = 36;
inline constexpr int kEloop = 40;
inline constexpr int kEstale = 116;

// S_IFMT and types of st_mode.
inline constexpr uint32_t kTypeMask = 0170000;
inline constexpr uint32_t kTypePipe = 0010000;
inline constexpr uint32_t kTypeCharacters = 0020000;
inline constexpr uint32_t kTypeDirectory = 0040000;
inline constexpr uint32_t kTypeFile = 0100000;
inline constexpr uint32_t kTypeLink = 0120000;

// makedev(3) of the C library.
constexpr uint64_t device_number(uint32_t major, uint32_t minor) {
  return (static_cast<uint64_t>(major & 0xFFFFF000U) << 32) | ((major & 0xFFFU) << 8) |
         (minor & 0xFFU) | (static_cast<uint64_t>(minor & 0xFFFFFF00U) << 12);
}

// SAFETY: a system call takes addresses as integers; the kernel checks them.
template <class T>
long address(const T* pointer) {
  return static_cast<long>(reinterpret_cast<uintptr_t>(pointer));
}

[[noreturn]] inline void exit_process(int status) {
  for (;;) {
    raw_call(__NR_exit_group, status);
  }
}

inline void close_fd(int fd) {
  raw_call(__NR_close, fd);
}

inline long close_span(unsigned first, unsigned last, unsigned flags) {
  return raw_call(__NR_close_range, static_cast<long>(first), static_cast<long>(last),
                  static_cast<long>(flags));
}

inline constexpr unsigned kCloseRangeCloexec = 1U << 2;

inline long set_cloexec(int fd) {
  const auto number = static_cast<unsigned>(fd);
  return close_span(number, number, kCloseRangeCloexec);
}

inline long control_fd(int fd, int command) {
  return raw_call(__NR_fcntl, fd, command, 0);
}

inline long process_control(int option, long a = 0, long b = 0) {
  return raw_call(__NR_prctl, option, a, b, 0, 0);
}

inline long read_fd(int fd, void* buffer, size_t size) {
  return raw_call(__NR_read, fd, address(buffer), static_cast<long>(size));
}

inline long write_fd(int fd, const void* buffer, size_t size) {
  return raw_call(__NR_write, fd, address(buffer), static_cast<long>(size));
}

inline long open_below(int directory, const char* path, int flags) {
  return raw_call(__NR_openat, directory, address(path), flags, 0);
}

inline long file_end(int fd, long offset, int whence) {
  return raw_call(__NR_lseek, fd, offset, whence);
}

// Maps `size` bytes; a null pointer on failure.
inline void* map_bytes(size_t size, int protection, int flags, int fd) {
  const long result = raw_call(__NR_mmap, 0, static_cast<long>(size), protection, flags, fd, 0);
  if (result < 0 && result > -4096) {
    return nullptr;
  }
  // SAFETY: the kernel just gave us this address.
  return reinterpret_cast<void*>(static_cast<uintptr_t>(result));
}

inline long own_pid() {
  return raw_call(__NR_getpid);
}

inline long wait_process(long pid, int* status, int options, void* usage) {
  return raw_call(__NR_wait4, pid, address(status), options, address(usage));
}

// As fork(2), with the child's pid stored in the child's own memory and, when `pidfd` is not null,
// a pidfd for the parent.
inline long fork_process(int* child_tid, int* pidfd) {
  constexpr long kSigchld = 17;
  constexpr long kClonePidfd = 0x00001000;
  constexpr long kCloneChildSettid = 0x01000000;
  const long flags = kSigchld | kCloneChildSettid | (pidfd == nullptr ? 0 : kClonePidfd);
  return raw_clone(__NR_clone, flags, address(pidfd), address(child_tid));
}

}  // namespace aasm::helper
