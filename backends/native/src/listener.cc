#include "listener.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// SECCOMP_IOCTL_NOTIF_SET_FLAGS and SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP of Linux 6.6, which older
// headers lack.
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, std::uint64_t);
constexpr unsigned long kSyncWakeUp = 1;

// struct seccomp_notif_addfd, and SECCOMP_ADDFD_FLAG_SEND of Linux 5.14.
struct AddDescriptor {
  std::uint64_t id = 0;
  std::uint32_t flags = 0;
  std::uint32_t source = 0;
  std::uint32_t number = 0;  // chosen by the kernel
  std::uint32_t new_flags = 0;
};
constexpr std::uint32_t kAddAndAnswer = 1U << 1;  // SECCOMP_ADDFD_FLAG_SEND
constexpr unsigned long kAddDescriptor = SECCOMP_IOW(3, AddDescriptor);

// The kernel copies sizeof(struct seccomp_notif_resp) as *it* knows it; ours leads the union so
// that a longer one is read from zeroed memory of ours.
union ResponseBuffer {
  seccomp_notif_resp response;
  char room[256];
};

}  // namespace

void ask_for_short_slices() {
  // struct sched_attr of Linux 3.14, without what came later.
  struct {
    std::uint32_t size = 0;
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime_ns = 0;  // of SCHED_OTHER, which has none before 6.12: the slice
    std::uint64_t deadline_ns = 0;
    std::uint64_t period_ns = 0;
  } attributes;
  constexpr std::uint32_t kSchedOther = 0;
  constexpr std::uint64_t kSliceNs = 100'000;  // the least there is
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 &&
      attributes.policy == kSchedOther) {
    attributes.runtime_ns = kSliceNs;
    ::syscall(SYS_sched_setattr, 0, &attributes, 0);
  }
}

void Listener::Release::operator()(void* memory) const {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

Result<Listener> Listener::open(process::Fd fd) {
  seccomp_notif_sizes sizes{};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) {
    return process::system_error("asking for the sizes of seccomp notifications", errno);
  }
  if (sizes.seccomp_notif_resp > sizeof(ResponseBuffer)) {
    return Error(ErrorCode::kUnsupported, "the kernel's seccomp answers are larger than known");
  }
  // The caller's wake-up is a switch to us on its processor, where the kernel knows that (6.6): the
  // shorter a call waits to be received, the fewer signals find it waiting.
  ::ioctl(fd.get(), kSetFlags, kSyncWakeUp);
  Listener listener;
  listener.fd_ = std::move(fd);
  listener.notification_size_ = std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif));
  void* memory = std::calloc(1, listener.notification_size_);  // NOLINT
  if (memory == nullptr) {
    return Error(ErrorCode::kResourceExhausted, "no memory for seccomp notifications");
  }
  listener.notification_.reset(static_cast<seccomp_notif*>(memory));
  return listener;
}

Result<bool> Listener::receive() {
  for (;;) {
    // The kernel refuses a buffer that is not zero.
    std::memset(static_cast<void*>(notification_.get()), 0, notification_size_);
    if (::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, notification_.get()) == 0) {
      return true;
    }
    if (errno == ENOENT) {
      return false;
    }
    if (errno != EINTR) {
      return process::system_error("receiving a seccomp notification", errno);
    }
  }
}

bool Listener::still_blocked(std::uint64_t id) const {
  return ::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

Result<bool> Listener::send(std::uint64_t id, std::int64_t value, std::int32_t error,
                            std::uint32_t flags) const {
  ResponseBuffer buffer{};
  std::memset(&buffer, 0, sizeof(buffer));
  buffer.response.id = id;
  buffer.response.val = value;
  buffer.response.error = error;
  buffer.response.flags = flags;
  for (;;) {
    if (::ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_SEND, &buffer.response) == 0) {
      return true;
    }
    // EINPROGRESS: somebody answered already, which would be a bug of ours.
    if (errno == ENOENT) {
      return false;
    }
    if (errno != EINTR) {
      return process::system_error("answering a seccomp notification", errno);
    }
  }
}

Result<bool> Listener::refuse(std::uint64_t id, std::int64_t os_errno) const {
  return send(id, 0, -static_cast<std::int32_t>(os_errno), 0);
}

Result<bool> Listener::answer_value(std::uint64_t id, std::int64_t value) const {
  return send(id, value, 0, 0);
}

Result<bool> Listener::answer_descriptor(std::uint64_t id, process::Fd fd,
                                         bool close_on_exec) const {
  // Nobody can execute a file that is open for writing anywhere: not in one step, then.
  const bool writes = (::fcntl(fd.get(), F_GETFL) & O_ACCMODE) != O_RDONLY;
  AddDescriptor added;
  added.flags = writes ? 0 : kAddAndAnswer;
  added.id = id;
  added.source = static_cast<std::uint32_t>(fd.get());
  added.new_flags = close_on_exec ? O_CLOEXEC : 0;
  for (;;) {
    const int number = ::ioctl(fd_.get(), kAddDescriptor, &added);
    if (number >= 0 && writes) {
      fd.reset();
      return answer_value(id, number);
    }
    if (number >= 0) {
      return true;
    }
    if (errno == ENOENT) {
      return false;
    }
    if (errno != EINTR) {
      return process::system_error("giving a caller its descriptor", errno);
    }
  }
}

Result<bool> Listener::let_run(std::uint64_t id) const {
  return send(id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

}  // namespace aasm::backend_native
