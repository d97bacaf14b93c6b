#include "audit_link.h"

#include <linux/audit.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

// Room for a burst: measured, 8,192 records at once were all kept with it.
constexpr int kReceiveBytes = 8 << 20;
constexpr std::size_t kLongestMessage = 16384;  // MAX_AUDIT_MESSAGE_LENGTH is 8970

Result<process::Fd> open_socket(std::uint32_t groups, int flags, const char* takes) {
  process::Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_AUDIT));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups;
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return process::system_error(
        "the host's audit (it takes " + std::string(takes) + " in the initial user namespace)",
        errno);
  }
  return fd;
}

struct Message {
  ssize_t size = 0;
  bool from_kernel = false;
  alignas(nlmsghdr) std::array<char, kLongestMessage> bytes{};

  const nlmsghdr& head() const { return *reinterpret_cast<const nlmsghdr*>(bytes.data()); }
  bool whole() const {
    return size >= static_cast<ssize_t>(sizeof(nlmsghdr)) && head().nlmsg_len >= NLMSG_HDRLEN &&
           head().nlmsg_len <= static_cast<std::size_t>(size);
  }
  // By what was sent: the header of a record may count its text alone.
  std::string_view content() const {
    return {bytes.data() + NLMSG_HDRLEN, static_cast<std::size_t>(size) - NLMSG_HDRLEN};
  }
};

void take_message(int fd, Message& message) {
  sockaddr_nl sender{};
  socklen_t length = sizeof sender;
  message.size = ::recvfrom(fd, message.bytes.data(), message.bytes.size(), 0,
                            reinterpret_cast<sockaddr*>(&sender), &length);
  // Any process of root's may write to a netlink socket; only the kernel has the number 0.
  message.from_kernel = length == sizeof sender && sender.nl_pid == 0;
}

template <class Body>
Result<void> send_request(int fd, std::uint16_t type, const Body& body) {
  struct {
    nlmsghdr head;
    Body body;
  } request{};
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = type;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.head.nlmsg_seq = 1;
  request.body = body;
  const ssize_t sent = ::send(fd, &request, sizeof request, 0);
  return sent == static_cast<ssize_t>(sizeof request)
             ? Result<void>()
             : process::system_error("asking the host's audit", errno);
}

// The content of the answer `type`; of the acknowledgement where there is none.
Result<std::string> await_answer(int fd, std::uint16_t type) {
  Message message;
  std::string content;
  while (true) {
    take_message(fd, message);
    if (message.size < 0) {
      return process::system_error("the answer of the host's audit", errno);
    }
    if (!message.from_kernel || !message.whole()) {
      continue;
    }
    if (message.head().nlmsg_type == NLMSG_ERROR) {
      nlmsgerr failure{};
      std::memcpy(&failure, message.bytes.data() + NLMSG_HDRLEN,
                  std::min(sizeof failure, message.content().size()));
      if (failure.error != 0) {
        return process::system_error(
            "asking the host's audit (it takes CAP_AUDIT_CONTROL in the "
            "initial namespaces)",
            -failure.error);
      }
      if (type == NLMSG_ERROR || !content.empty()) {
        return content;
      }
    } else if (message.head().nlmsg_type == type) {
      return std::string(message.content());
    }
  }
}

template <class Body>
Result<std::string> ask(std::uint16_t type, const Body& body, std::uint16_t answer) {
  const process::Fd fd = AASM_TRY(open_socket(0, 0, "CAP_AUDIT_CONTROL"));
  const timeval patience{1, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  AASM_TRY(send_request(fd.get(), type, body));
  return await_answer(fd.get(), answer);
}

}  // namespace

Result<AuditLink> AuditLink::listen() {
  process::Fd fd =
      AASM_TRY(open_socket(1U << (AUDIT_NLGRP_READLOG - 1), SOCK_NONBLOCK, "CAP_AUDIT_READ"));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBytes, sizeof kReceiveBytes);
  return AuditLink(std::move(fd));
}

bool AuditLink::receive(const Receiver& receiver) {
  Message message;
  bool all = true;
  while (true) {
    take_message(listener_.get(), message);
    if (message.size < 0 && errno == ENOBUFS) {
      all = false;
    } else if (message.size < 0 && errno != EINTR) {
      return all;
    } else if (message.size >= 0 && message.from_kernel && message.whole()) {
      receiver(message.head().nlmsg_type, message.content());
    }
  }
}

Result<AuditStatus> AuditLink::status() {
  const std::uint32_t nothing = 0;
  const std::string content = AASM_TRY(ask(AUDIT_GET, nothing, AUDIT_GET));
  audit_status told{};
  if (content.size() < offsetof(audit_status, backlog)) {
    return Error(ErrorCode::kUnsupported, "the host's audit answers less than is known of it");
  }
  std::memcpy(&told, content.data(), std::min(sizeof told, content.size()));
  return AuditStatus{told.enabled, told.pid, told.lost};
}

Result<void> AuditLink::set_enabled(bool enabled) {
  audit_status wanted{};
  wanted.mask = AUDIT_STATUS_ENABLED;
  wanted.enabled = enabled ? 1 : 0;
  AASM_TRY(ask(AUDIT_SET, wanted, NLMSG_ERROR));
  return {};
}

}  // namespace aasm::backend_native
