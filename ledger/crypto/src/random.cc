#include "aasm/crypto/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>

namespace aasm::crypto {

schema::Result<void> random_bytes(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = ::getrandom(out.data(), out.size(), 0);
    if (got < 0) {
      const int error = errno;
      if (error == EINTR) {
        continue;
      }
      return schema::Error(schema::ErrorCode::kUnavailable, "getrandom failed", error);
    }
    out = out.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace aasm::crypto
