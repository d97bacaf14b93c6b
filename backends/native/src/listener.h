#pragma once

#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::backend_native {

// One seccomp listener descriptor with buffers of the sizes the running kernel asks for
// (seccomp_unotif(2)). receive() and call() belong to one thread; the answers may be given by any.
class Listener {
 public:
  // kUnsupported when the kernel cannot say its sizes.
  static schema::Result<Listener> open(process::Fd fd);

  // Fetches a notification that poll(2) has announced. False when its caller was killed before:
  // the call did not run and nothing is to be answered.
  schema::Result<bool> receive();
  const seccomp_notif& call() const { return *notification_; }

  // Whether the caller is still blocked in the call `id`.
  bool still_blocked(std::uint64_t id) const;

  // Answers. False when the caller is gone, so that the answer reached nobody.
  schema::Result<bool> refuse(std::uint64_t id, std::int64_t os_errno) const;
  schema::Result<bool> answer_zero(std::uint64_t id) const { return answer_value(id, 0); }
  schema::Result<bool> answer_value(std::uint64_t id, std::int64_t value) const;
  // `fd` becomes a descriptor of the caller, and the answer is its number; it is closed here before
  // the caller goes on. EMFILE: the caller has no room for it, and waits still.
  schema::Result<bool> answer_descriptor(std::uint64_t id, process::Fd fd,
                                         bool close_on_exec) const;
  // The kernel runs the call with arguments that memory may still change: only for calls that were
  // judged by nothing but their registers.
  schema::Result<bool> let_run(std::uint64_t id) const;

  // For poll(2): readable with a notification, hung up when no filtered thread is left.
  int fd() const { return fd_.get(); }
  // Callers, blocked now or later, are answered ENOSYS.
  void close() { fd_.reset(); }

 private:
  // malloc'd because the kernel may want more than our headers' structs.
  struct Release {
    void operator()(void* memory) const;
  };

  Listener() = default;
  schema::Result<bool> send(std::uint64_t id, std::int64_t value, std::int32_t error,
                            std::uint32_t flags) const;

  process::Fd fd_;
  std::size_t notification_size_ = 0;
  std::unique_ptr<seccomp_notif, Release> notification_;
};

// Asks the kernel to let the calling thread run soon rather than long: a signal that finds a call
// not yet received interrupts it, which fork(2) does not know (seccomp_unotify(2)). Measured, 1,200
// pipelines of a shell beside four busy processes: 104 and 44 failed without this and the wake-up
// of open(), 1 and 0 with both.
void ask_for_short_slices();

}  // namespace aasm::backend_native
