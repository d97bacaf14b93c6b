#include "warden_socket.h"

#include "sys.h"

namespace aasm::helper {

namespace {

constexpr int kNoSignal = 0x4000;  // MSG_NOSIGNAL
constexpr int kSolSocket = 1;
constexpr int kScmRights = 1;

// struct msghdr and its parts as the kernel reads them.
struct Piece {
  const void* base;
  size_t size;
};
struct Header {
  void* name;
  int name_size;
  Piece* pieces;
  size_t num_pieces;
  void* control;
  size_t control_size;
  unsigned flags;
};
struct alignas(8) DescriptorControl {
  size_t size;  // struct cmsghdr, without the padding behind fd
  int level;
  int type;
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
  DescriptorControl control = {sizeof(size_t) + 3 * sizeof(int), kSolSocket, kScmRights, fd};
  const Header header = {nullptr, 0, &piece, 1, &control, sizeof(control), 0};
  return raw_call(__NR_sendmsg, socket_fd, address(&header), kNoSignal) == sizeof(message);
}

bool receive_kill_order(int socket_fd) {
  wire::WardenMessage message = {};
  const long size = raw_call(__NR_recvfrom, socket_fd, address(&message), sizeof(message), 0, 0, 0);
  return size == sizeof(message) && message.magic == wire::kWardenMessageMagic &&
         message.kind == static_cast<uint32_t>(wire::WardenMessageKind::kKillTree);
}

}  // namespace aasm::helper
