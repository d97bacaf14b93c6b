#include "boot_id.h"

#include <errno.h>
#include <fcntl.h>

#include <array>

#include "fd.h"
#include "private_files.h"

namespace aasm::ledger {

schema::Result<std::string> read_boot_id() {
  const Fd fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) {
    return os_error(
        "opening /proc/sys/kernel/random/boot_id (is /proc mounted here, without subset=pid?)",
        errno);
  }
  std::array<char, 64> buffer{};
  const ssize_t got = read(fd.get(), buffer.data(), buffer.size());
  if (got <= 0) {
    return os_error("reading the boot id", got < 0 ? errno : EIO);
  }
  std::string id(buffer.data(), static_cast<std::size_t>(got));
  if (id.back() == '\n') {
    id.pop_back();
  }
  return id;
}

}  // namespace aasm::ledger
