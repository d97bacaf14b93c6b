#include "outgoing_message.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "aasm/wire/broker_message.h"

#include "caller_state.h"
#include "network_judge.h"

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

constexpr std::size_t kMaxSpans = 1024;          // UIO_MAXIOV
constexpr std::uint64_t kMaxTotal = 0x7FFFF000;  // MAX_RW_COUNT

// struct cmsghdr of a 64-bit caller.
struct ControlHead {
  std::uint64_t size;
  std::int32_t level;
  std::int32_t type;
};

Result<void> take_rights(pid_t tid, const char* data, std::size_t size, OutgoingMessage* message) {
  for (std::size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
    int number = -1;
    std::memcpy(&number, data + at, sizeof number);
    if (message->rights.size() >= wire::kMaxBrokerRights) {
      return kernel_answer(EINVAL);
    }
    message->rights.push_back(AASM_TRY(take_descriptor(tid, number)));
  }
  return {};
}

struct Sender {
  pid_t tid;
  pid_t pid;
  pid_t broker;
};

// The claimed pid is replaced by the broker's, as whom it sends.
Result<void> rewrite_credentials(const Sender& sender, char* data, std::size_t size) {
  std::int32_t claimed = 0;
  if (size != 3 * sizeof(std::int32_t)) {  // struct ucred
    return kernel_answer(EINVAL);
  }
  std::memcpy(&claimed, data, sizeof claimed);
  if (claimed != sender.pid) {
    return kernel_answer(EPERM);
  }
  const std::int32_t broker = sender.broker;
  std::memcpy(data, &broker, sizeof broker);
  return {};
}

Result<void> take_control(const Sender& sender, const ControlHead& head, std::string one,
                          const NetworkSpec& spec, OutgoingMessage* message) {
  char* data = one.data() + sizeof head;
  const std::size_t size = one.size() - sizeof head;
  if (head.level == SOL_SOCKET && head.type == SCM_RIGHTS) {
    return take_rights(sender.tid, data, size, message);
  }
  if (head.level == SOL_SOCKET && head.type == SCM_CREDENTIALS) {
    AASM_TRY(rewrite_credentials(sender, data, size));
  }
  if (!judge_option(spec, head.level, head.type).perform) {
    return Error(ErrorCode::kPermissionDenied, "a control message that carries a route", EPERM);
  }
  message->control += one;
  message->control.resize(wire::broker_padded(static_cast<std::uint32_t>(message->control.size())));
  return message->control.size() <= wire::kMaxBrokerControl ? Result<void>()
                                                            : kernel_answer(ENOBUFS);
}

Result<void> read_control(const Sender& sender, const RemoteHeader& header, const NetworkSpec& spec,
                          OutgoingMessage* message) {
  // Room for as many descriptors as the kernel takes, twice over.
  constexpr std::uint64_t kMaxRead = std::uint64_t{4} * wire::kMaxBrokerControl;
  if (header.control_size > kMaxRead) {
    return kernel_answer(ENOBUFS);
  }
  std::string bytes(header.control_size, '\0');
  AASM_TRY(read_memory(sender.tid, header.control, bytes.data(), bytes.size()));
  for (std::size_t at = 0; at + sizeof(ControlHead) <= bytes.size();) {
    ControlHead head{};
    std::memcpy(&head, bytes.data() + at, sizeof head);
    if (head.size < sizeof head || head.size > bytes.size() - at) {
      return kernel_answer(EINVAL);
    }
    AASM_TRY(take_control(sender, head, bytes.substr(at, head.size), spec, message));
    at += (head.size + 7) / 8 * 8;
  }
  return {};
}

}  // namespace

Result<std::string> read_address(pid_t tid, std::uint64_t address, std::int32_t length) {
  if (length < 0 || static_cast<std::size_t>(length) > sizeof(sockaddr_storage)) {
    return kernel_answer(EINVAL);
  }
  std::string bytes(static_cast<std::size_t>(length), '\0');
  AASM_TRY(read_memory(tid, address, bytes.data(), bytes.size()));
  return bytes;
}

Result<std::vector<RemoteSpan>> read_span_list(pid_t tid, const RemoteHeader& header,
                                               std::uint64_t* total) {
  if (header.num_spans > kMaxSpans) {
    return kernel_answer(EMSGSIZE);
  }
  static_assert(sizeof(RemoteSpan) == 16);
  std::vector<RemoteSpan> spans(header.num_spans);
  AASM_TRY(read_memory(tid, header.spans, spans.data(), spans.size() * sizeof(RemoteSpan)));
  *total = 0;
  for (RemoteSpan& span : spans) {
    if (span.size > static_cast<std::uint64_t>(LONG_MAX)) {
      return kernel_answer(EINVAL);
    }
    span.size = std::min(span.size, kMaxTotal - *total);
    *total += span.size;
  }
  return spans;
}

Result<OutgoingMessage> read_sendto(pid_t tid, const seccomp_data& call) {
  OutgoingMessage message;
  message.total = std::min<std::uint64_t>(call.args[2], kMaxTotal);
  message.spans = {{call.args[1], message.total}};
  if (call.args[4] != 0) {
    message.name =
        AASM_TRY(read_address(tid, call.args[4], static_cast<std::int32_t>(call.args[5])));
  }
  return message;
}

Result<OutgoingMessage> read_msghdr(pid_t tid, pid_t pid, std::uint64_t address,
                                    const NetworkSpec& spec, pid_t broker) {
  RemoteHeader header{};
  AASM_TRY(read_memory(tid, address, &header, sizeof header));
  OutgoingMessage message;
  if (header.name_size < 0 && header.name != 0) {
    return kernel_answer(EINVAL);
  }
  if (header.name != 0 && header.name_size > 0) {
    constexpr auto kLongest = static_cast<std::int32_t>(sizeof(sockaddr_storage));
    message.name = AASM_TRY(read_address(tid, header.name, std::min(header.name_size, kLongest)));
  }
  message.spans = AASM_TRY(read_span_list(tid, header, &message.total));
  if (header.control != 0) {
    AASM_TRY(read_control({tid, pid, broker}, header, spec, &message));
  }
  return message;
}

}  // namespace aasm::backend_native
