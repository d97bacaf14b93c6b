#include "warden_channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace aasm::backend_native {

namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kControlSize = CMSG_SPACE(sizeof(int));

process::Fd descriptor_in(msghdr& header) {
  const cmsghdr* control = CMSG_FIRSTHDR(&header);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS ||
      control->cmsg_len != CMSG_LEN(sizeof(int))) {
    return {};
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(control), sizeof(fd));
  return process::Fd(fd);
}

}  // namespace

Result<ReceivedMessage> receive_message(process::BorrowedFd socket) {
  ReceivedMessage received;
  alignas(cmsghdr) std::array<char, kControlSize> control{};
  iovec piece = {&received.message, sizeof(received.message)};
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t size = 0;
  do {
    size = ::recvmsg(socket.get(), &header, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size == 0 || (size < 0 && errno == ECONNRESET)) {
    return Error(ErrorCode::kUnavailable, "the warden is gone");
  }
  if (size < 0) {
    return process::system_error("reading from the warden", errno);
  }
  received.descriptor = descriptor_in(header);
  if (static_cast<std::size_t>(size) != sizeof(received.message) ||
      (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
      received.message.magic != wire::kWardenMessageMagic) {
    return Error(ErrorCode::kMalformed, "bad message from the warden");
  }
  return received;
}

bool send_kill_order(process::BorrowedFd socket) {
  wire::WardenMessage message = {};
  message.magic = wire::kWardenMessageMagic;
  message.kind = static_cast<std::uint32_t>(wire::WardenMessageKind::kKillTree);
  ssize_t size = 0;
  do {
    size = ::send(socket.get(), &message, sizeof(message), MSG_NOSIGNAL);
  } while (size < 0 && errno == EINTR);
  return size == static_cast<ssize_t>(sizeof(message));
}

}  // namespace aasm::backend_native
