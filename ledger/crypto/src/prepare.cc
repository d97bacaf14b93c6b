#include "aasm/crypto/prepare.h"

#include <mutex>

#include "botan_adapter.h"

namespace aasm::crypto {

void prepare() {
  // State of the process, because Botan's allocator is: it is set up once, by its first use.
  static std::once_flag once;
  std::call_once(once, detail::prepare_botan);
}

}  // namespace aasm::crypto
