#include "backends.h"

#include "aasm/backends/native.h"

namespace aasm::cli {

std::vector<std::unique_ptr<planner::Backend>> make_backends() {
  std::vector<std::unique_ptr<planner::Backend>> backends;
  backends.push_back(backend_native::make_native_backend());
  return backends;
}

}  // namespace aasm::cli
