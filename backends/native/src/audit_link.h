#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"

namespace aasm::backend_native {

// What the host's audit says of itself (AUDIT_GET of linux/audit.h).
struct AuditStatus {
  std::uint32_t enabled = 0;  // 0: off; 2: on, and locked so
  std::uint32_t daemon = 0;   // process of the audit daemon; 0: none
  std::uint32_t lost = 0;     // records lost since boot
};

// The host's audit over netlink(7). Listening takes CAP_AUDIT_READ, asking and switching
// CAP_AUDIT_CONTROL, both in the initial user namespace; the kernel sends to the initial network
// namespace alone. Errors carry the errno. One thread.
class AuditLink {
 public:
  // Listens from now on, as one of any number of readers: takes nothing from the audit daemon.
  static schema::Result<AuditLink> listen();

  // Readable when there is something to receive.
  int fd() const { return listener_.get(); }

  using Receiver = std::function<void(std::uint16_t type, std::string_view text)>;
  // Hands on what has come, without waiting. False: more came than was read, and is lost.
  bool receive(const Receiver& receiver);

  // Each over a socket of its own, so that answers are not mistaken for records.
  static schema::Result<AuditStatus> status();
  static schema::Result<void> set_enabled(bool enabled);

 private:
  explicit AuditLink(process::Fd listener) : listener_(std::move(listener)) {}

  process::Fd listener_;
};

}  // namespace aasm::backend_native
