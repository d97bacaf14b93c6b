#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "aasm/wire/broker_message.h"

#include "outgoing_message.h"

// The first byte is the length of an address, the second a number of buffers; the address follows,
// and all that is left is control messages. Whatever they are: what is passed on fits a message to
// the broker, holds no descriptor and no route, and claims to be nobody but the broker.
namespace {

using namespace aasm::backend_native;

constexpr pid_t kBroker = 4711;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

// Walks what is passed on as the kernel would.
void check_control(const std::string& control) {
  require(control.size() <= aasm::wire::kMaxBrokerControl && control.size() % 8 == 0);
  for (std::size_t at = 0; at + sizeof(cmsghdr) <= control.size();) {
    cmsghdr head{};
    std::memcpy(&head, control.data() + at, sizeof head);
    require(head.cmsg_len >= sizeof head && head.cmsg_len <= control.size() - at);
    if (head.cmsg_level == SOL_SOCKET) {
      require(head.cmsg_type != SCM_RIGHTS);
    }
    if (head.cmsg_level == SOL_SOCKET && head.cmsg_type == SCM_CREDENTIALS) {
      pid_t claimed = 0;
      std::memcpy(&claimed, control.data() + at + sizeof head, sizeof claimed);
      require(claimed == kBroker);
    }
    at += (head.cmsg_len + 7) / 8 * 8;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return 0;
  }
  static const NetworkSpec spec;
  const std::size_t name_size = std::min<std::size_t>(data[0], size - 2);
  std::array<iovec, 256> spans{};
  for (iovec& span : spans) {
    span = {spans.data(), static_cast<std::size_t>(data[1])};
  }
  msghdr header{};
  header.msg_name = const_cast<std::uint8_t*>(data + 2);
  header.msg_namelen = static_cast<socklen_t>(name_size);
  header.msg_iov = spans.data();
  header.msg_iovlen = data[1];
  header.msg_control = const_cast<std::uint8_t*>(data + 2 + name_size);
  header.msg_controllen = size - 2 - name_size;
  const auto tid = static_cast<pid_t>(::syscall(SYS_gettid));
  const auto message =
      read_msghdr(tid, ::getpid(), reinterpret_cast<std::uintptr_t>(&header), spec, kBroker);
  if (message) {
    require(message->name.size() <= sizeof(sockaddr_storage));
    require(message->rights.size() <= aasm::wire::kMaxBrokerRights);
    check_control(message->control);
  } else {
    require(message.error().os_errno() > 0);
  }
  return 0;
}
