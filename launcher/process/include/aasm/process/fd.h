#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "aasm/schema/digest.h"
#include "aasm/schema/result.h"

namespace aasm::process {

// A descriptor that somebody else owns and keeps open during the call it is passed to.
class BorrowedFd {
 public:
  explicit BorrowedFd(int fd) : fd_(fd) {}
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Owns one descriptor and closes it. Empty by default and after a move. One thread at a time.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    reset(std::exchange(other.fd_, -1));
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  BorrowedFd borrow() const { return BorrowedFd(fd_); }

  // Gives the descriptor up without closing it.
  int release() { return std::exchange(fd_, -1); }

  // Closes what is held, then owns `fd`.
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read_end;
  Fd write_end;
};

struct SocketPair {
  Fd ours;
  Fd theirs;
};

// All descriptors made here are close-on-exec. Errors carry the errno.
schema::Result<Pipe> make_pipe();
schema::Result<SocketPair> make_seqpacket_pair();

// An empty memfd that can be sealed. `name` shows in /proc/PID/fd.
schema::Result<Fd> make_memfd(const std::string& name);

// A memfd that holds `bytes` and can change no more: sealed against writing, growing, shrinking and
// further seals (memfd_create(2)).
schema::Result<Fd> make_sealed_memfd(const std::string& name, schema::ByteView bytes);

schema::Result<void> add_seals(BorrowedFd fd, int seals);

// Opens an existing file; `flags` as of open(2), close-on-exec is added.
schema::Result<Fd> open_file(const std::string& path, int flags);

// A second descriptor for what `fd` refers to.
schema::Result<Fd> duplicate(BorrowedFd fd);

// Writes all of `bytes`, whatever the number of calls it takes.
schema::Result<void> write_all(BorrowedFd fd, schema::ByteView bytes);

// Reads to the end of file; kResourceExhausted when there are more than `max_bytes`.
schema::Result<std::string> read_all(BorrowedFd fd, std::size_t max_bytes);

// The error for a failed system call: the code that fits `os_errno`, "<what>: <errno text>".
schema::Error system_error(const std::string& what, int os_errno);

}  // namespace aasm::process
