#include "broker_client.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "aasm/wire/broker_file.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxDescriptors = wire::kMaxBrokerRights + 2;
constexpr std::size_t kMaxGiven = wire::kMaxBrokerGiven + 1;
constexpr std::size_t kMaxReplyPath =
    sizeof(wire::BrokerFileReply) + 2 * std::size_t{wire::kMaxBrokerPlacePath};

void append_padded(std::string* message, const void* bytes, std::size_t size) {
  message->append(static_cast<const char*>(bytes), size);
  message->resize((message->size() + 7) / 8 * 8);
}

bool fits(const BrokerOrder& order) {
  const std::size_t num_groups = order.credentials ? order.credentials->groups.size() : 0;
  const bool on_files = order.kind == wire::BrokerKind::kFile;
  return order.name.size() <= wire::kMaxBrokerName &&
         order.control.size() <= wire::kMaxBrokerControl &&
         order.data.size() <= (on_files ? wire::kMaxBrokerFileData : wire::kMaxBrokerData) &&
         order.rights.size() <= wire::kMaxBrokerRights && num_groups <= wire::kMaxBrokerGroups &&
         (order.socket >= 0 || on_files || order.kind == wire::BrokerKind::kMemory);
}

wire::BrokerRequest header_of(std::uint64_t call, const BrokerOrder& order) {
  wire::BrokerRequest header = {};
  header.magic = wire::kBrokerMagic;
  header.kind = static_cast<std::uint32_t>(order.kind);
  header.call = call;
  header.flags = order.flags | (order.directory >= 0 ? wire::kBrokerDirectory : 0U) |
                 (order.target >= 0 ? wire::kBrokerTarget : 0U) |
                 (order.credentials ? wire::kBrokerCredentials : 0U);
  header.send_flags = order.send_flags;
  header.backlog = order.backlog;
  header.mode_mask = order.mode_mask;
  header.num_rights = static_cast<std::uint32_t>(order.rights.size());
  header.control_size = static_cast<std::uint32_t>(order.control.size());
  header.name_size = static_cast<std::uint32_t>(order.name.size());
  header.data_size = static_cast<std::uint32_t>(order.data.size());
  if (order.credentials) {
    header.uid = order.credentials->uid;
    header.gid = order.credentials->gid;
    header.num_groups = static_cast<std::uint32_t>(order.credentials->groups.size());
    header.capabilities = order.credentials->capabilities;
  }
  return header;
}

std::vector<int> descriptors_of(const BrokerOrder& order) {
  std::vector<int> descriptors;
  for (const int named : {order.socket, order.directory, order.target}) {
    if (named >= 0) {
      descriptors.push_back(named);
    }
  }
  descriptors.insert(descriptors.end(), order.rights.begin(), order.rights.end());
  return descriptors;
}

// False when the socket is full.
Result<bool> send_message(int socket, const std::string& message,
                          const std::vector<int>& descriptors) {
  iovec piece = {const_cast<char*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr header = {};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const std::size_t size = descriptors.size() * sizeof(int);
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(size);
    cmsghdr* head = CMSG_FIRSTHDR(&header);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(head), descriptors.data(), size);
  }
  for (;;) {
    if (::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
      return true;
    }
    // ETOOMANYREFS: too many descriptors are under way in sockets of this user.
    if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS) {
      return false;
    }
    if (errno != EINTR) {
      return process::system_error("sending to the broker", errno);
    }
  }
}

std::vector<process::Fd> descriptors_in(msghdr* header) {
  std::vector<process::Fd> descriptors;
  cmsghdr* head = CMSG_FIRSTHDR(header);
  if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
    return descriptors;
  }
  const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof fd);
    descriptors.emplace_back(fd);
  }
  return descriptors;
}

}  // namespace

process::Fd BrokerAnswer::take_descriptor() {
  return descriptors.empty() ? process::Fd() : std::move(descriptors.front());
}

Result<bool> BrokerClient::send(std::uint64_t call, const BrokerOrder& order) const {
  if (!fits(order)) {
    return Error(ErrorCode::kInvalidArgument, "a call does not fit a message to the broker");
  }
  const wire::BrokerRequest header = header_of(call, order);
  std::string message;
  message.reserve(sizeof header + wire::kMaxBrokerControl + order.data.size());
  append_padded(&message, &header, sizeof header);
  if (order.credentials) {
    append_padded(&message, order.credentials->groups.data(),
                  order.credentials->groups.size() * sizeof(std::uint32_t));
  }
  append_padded(&message, order.control.data(), order.control.size());
  append_padded(&message, order.name.data(), order.name.size());
  append_padded(&message, order.data.data(), order.data.size());
  return send_message(socket_.get(), message, descriptors_of(order));
}

Result<bool> BrokerClient::cancel(std::uint64_t call) const {
  wire::BrokerRequest header = {};
  header.magic = wire::kBrokerMagic;
  header.kind = static_cast<std::uint32_t>(wire::BrokerKind::kCancel);
  header.call = call;
  return send_message(socket_.get(), {reinterpret_cast<const char*>(&header), sizeof header}, {});
}

Result<std::optional<BrokerAnswer>> BrokerClient::receive() {
  while (true) {
    std::uint32_t flags = 0;
    std::optional<BrokerAnswer> answer = AASM_TRY(receive_one(&flags));
    if (!answer) {
      return answer;
    }
    const std::uint64_t call = answer->call;
    if ((flags & wire::kBrokerLetGo) != 0) {
      auto held = held_.extract(call);
      if (held.empty()) {
        return Error(ErrorCode::kIntegrity, "the broker lets go of what it did not hold");
      }
      return std::optional<BrokerAnswer>(std::move(held.mapped()));
    }
    if ((flags & wire::kBrokerHolds) == 0) {
      return answer;
    }
    held_.insert_or_assign(call, *std::move(answer));
  }
}

Result<std::optional<BrokerAnswer>> BrokerClient::receive_one(std::uint32_t* flags) const {
  wire::BrokerReply reply = {};
  std::string path(kMaxReplyPath, '\0');
  std::array<iovec, 2> pieces = {{{&reply, sizeof reply}, {path.data(), path.size()}}};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxGiven)> control{};
  msghdr header = {};
  header.msg_iov = pieces.data();
  header.msg_iovlen = pieces.size();
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t size = -1;
  do {
    size = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && errno == EAGAIN) {
    return std::optional<BrokerAnswer>();
  }
  if (size <= 0) {
    return Error(ErrorCode::kUnavailable, "the broker is gone", size == 0 ? 0 : errno);
  }
  BrokerAnswer answer;
  answer.descriptors = descriptors_in(&header);
  if (static_cast<std::size_t>(size) != sizeof reply + reply.path_size ||
      reply.magic != wire::kBrokerMagic || reply.path_size > path.size()) {
    return Error(ErrorCode::kIntegrity, "a malformed answer from the broker");
  }
  *flags = reply.flags;
  answer.call = reply.call;
  answer.result = reply.result;
  answer.fault = (reply.flags & wire::kBrokerFault) != 0;
  answer.device = reply.device;
  answer.inode = reply.inode;
  answer.mode = reply.mode;
  path.resize(reply.path_size);
  answer.path = std::move(path);
  return std::optional<BrokerAnswer>(std::move(answer));
}

}  // namespace aasm::backend_native
