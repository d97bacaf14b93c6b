#pragma once

#include "sys.h"

// sendmsg(2) and recvmsg(2) as the kernel reads them (socket(7), unix(7), cmsg(3)).
namespace aasm::helper {

inline constexpr unsigned kDontWait = 0x40;             // MSG_DONTWAIT
inline constexpr unsigned kNoSignal = 0x4000;           // MSG_NOSIGNAL
inline constexpr unsigned kTruncated = 0x20;            // MSG_TRUNC
inline constexpr unsigned kControlCut = 0x8;            // MSG_CTRUNC
inline constexpr unsigned kCloseOnExecFd = 0x40000000;  // MSG_CMSG_CLOEXEC
inline constexpr int kSolSocket = 1;
inline constexpr int kScmRights = 1;

// struct msghdr and its parts.
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
// struct cmsghdr, without the padding behind what follows it.
struct alignas(8) ControlHead {
  size_t size;
  int level;
  int type;
};

inline long send_header(int fd, const Header& header, unsigned flags) {
  return raw_call(__NR_sendmsg, fd, address(&header), static_cast<long>(flags));
}

inline long receive_header(int fd, Header& header, unsigned flags) {
  return raw_call(__NR_recvmsg, fd, address(&header), static_cast<long>(flags));
}

}  // namespace aasm::helper
