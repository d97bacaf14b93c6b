#include "made_inside.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

struct Question {
  nlmsghdr head{};
  unix_diag_req asked{};
};

Result<Question> question_about(const process::Fd& socket) {
  struct stat status {};
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::fstat(socket.get(), &status) != 0 ||
      ::getsockopt(socket.get(), SOL_SOCKET, SO_COOKIE, &cookie, &size) != 0) {
    return process::system_error("the number of a socket", errno);
  }
  Question question;
  question.head.nlmsg_len = sizeof question;
  question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.head.nlmsg_flags = NLM_F_REQUEST;
  question.asked.sdiag_family = AF_UNIX;
  question.asked.udiag_ino = static_cast<std::uint32_t>(status.st_ino);
  question.asked.udiag_show = UDIAG_SHOW_VFS;
  question.asked.udiag_cookie[0] = static_cast<std::uint32_t>(cookie);
  question.asked.udiag_cookie[1] = static_cast<std::uint32_t>(cookie >> 32U);
  return question;
}

// Of the kernel, which writes whole attributes, each aligned to four bytes.
Result<BoundFile> read_answer(const char* bytes, std::size_t size) {
  nlmsghdr head{};
  constexpr std::size_t kBefore = NLMSG_LENGTH(sizeof(unix_diag_msg));
  if (size >= sizeof head) {
    std::memcpy(&head, bytes, sizeof head);
  }
  if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || head.nlmsg_len > size) {
    return Error(ErrorCode::kUnsupported, "the kernel does not tell where sockets are bound");
  }
  for (std::size_t at = NLMSG_ALIGN(kBefore); at + sizeof(rtattr) <= head.nlmsg_len;) {
    rtattr attribute{};
    std::memcpy(&attribute, bytes + at, sizeof attribute);
    unix_diag_vfs vfs{};
    const bool whole = attribute.rta_len >= RTA_LENGTH(0) && at + attribute.rta_len <= size;
    if (!whole) {
      break;
    }
    if (attribute.rta_type == UNIX_DIAG_VFS && attribute.rta_len >= RTA_LENGTH(sizeof vfs)) {
      std::memcpy(&vfs, bytes + at + RTA_LENGTH(0), sizeof vfs);
      // dev_t of the kernel: twelve bits and twenty
      return BoundFile{vfs.udiag_vfs_ino, vfs.udiag_vfs_dev >> 20U, vfs.udiag_vfs_dev & 0xFFFFFU};
    }
    at += RTA_ALIGN(attribute.rta_len);
  }
  return Error(ErrorCode::kNotFound, "the socket is bound to no file");
}

}  // namespace

std::optional<FileIdentity> file_identity(const process::Fd& file) {
  struct statx found {};
  if (::statx(file.get(), "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &found) != 0 ||
      (found.stx_mask & STATX_BTIME) == 0) {
    return std::nullopt;
  }
  return FileIdentity{makedev(found.stx_dev_major, found.stx_dev_minor), found.stx_ino,
                      found.stx_btime.tv_sec, found.stx_btime.tv_nsec};
}

Result<BoundFile> bound_file(const process::Fd& socket) {
  const Question question = AASM_TRY(question_about(socket));
  const process::Fd kernel(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
  if (!kernel || ::send(kernel.get(), &question, sizeof question, 0) < 0) {
    return process::system_error("asking where a socket is bound", errno);
  }
  // The answer is there when the question has been sent.
  std::array<char, 1024> answer{};
  const ssize_t size = ::recv(kernel.get(), answer.data(), answer.size(), 0);
  return size < 0 ? process::system_error("asking where a socket is bound", errno)
                  : read_answer(answer.data(), static_cast<std::size_t>(size));
}

bool is_bound_file(const FileIdentity& file, const BoundFile& bound, std::int64_t since) {
  if (static_cast<std::uint32_t>(file.inode) != bound.inode) {
    return false;
  }
  const bool same_device =
      major(file.device) == bound.device_major && minor(file.device) == bound.device_minor;
  return same_device || file.birth_seconds >= since;
}

void MadeInside::add_socket(const FileIdentity& file) {
  if (!sockets_.insert(file).second) {
    return;
  }
  order_.push_back(file);
  if (order_.size() > kMaxSockets) {
    sockets_.erase(order_.front());
    order_.pop_front();
  }
}

}  // namespace aasm::backend_native
