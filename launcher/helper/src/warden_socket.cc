#include "warden_socket.h"

#include "socket_message.h"
#include "sys.h"

namespace aasm::helper {

namespace {

struct DescriptorControl {
  ControlHead head;
  int fd;
};

}  // namespace

wire::WardenMessage new_message(wire::WardenMessageKind kind, int pid) {
  wire::WardenMessage message = {};
  message.magic = wire::kWardenMessageMagic;
  message.kind = static_cast<uint32_t>(kind);
  message.pid = pid;
  return message;
}

bool send_message(int socket_fd, const wire::WardenMessage& message) {
  return raw_call(__NR_sendto, socket_fd, address(&message), sizeof(message), kNoSignal, 0, 0) ==
         sizeof(message);
}

bool send_descriptor(int socket_fd, const wire::WardenMessage& message, int fd) {
  Piece piece = {&message, sizeof(message)};
  DescriptorControl control = {{sizeof(ControlHead) + sizeof(int), kSolSocket, kScmRights}, fd};
  const Header header = {nullptr, 0, &piece, 1, &control, sizeof(control), 0};
  return send_header(socket_fd, header, kNoSignal) == sizeof(message);
}

bool receive_kill_order(int socket_fd) {
  wire::WardenMessage message = {};
  const long size = raw_call(__NR_recvfrom, socket_fd, address(&message), sizeof(message), 0, 0, 0);
  return size == sizeof(message) && message.magic == wire::kWardenMessageMagic &&
         message.kind == static_cast<uint32_t>(wire::WardenMessageKind::kKillTree);
}

}  // namespace aasm::helper
