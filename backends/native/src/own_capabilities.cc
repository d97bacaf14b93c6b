#include "own_capabilities.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "aasm/process/fd.h"

namespace aasm::backend_native {

schema::Result<CapabilitySets> own_capabilities() {
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &head, data.data()) != 0) {
    return process::system_error("reading the own capabilities", errno);
  }
  const auto join = [](std::uint32_t low, std::uint32_t high) {
    return std::uint64_t{high} << 32 | low;
  };
  return CapabilitySets{join(data[0].effective, data[1].effective),
                        join(data[0].permitted, data[1].permitted),
                        join(data[0].inheritable, data[1].inheritable)};
}

std::optional<CapabilityCut> capability_cut(const CapabilitySets& sets) {
  const std::uint64_t all = sets.effective | sets.permitted | sets.inheritable;
  if ((all & ~kKeptCapabilities) == 0) {
    return std::nullopt;
  }
  return CapabilityCut{kKeptCapabilities, (sets.effective >> CAP_SETPCAP & 1U) != 0};
}

}  // namespace aasm::backend_native
