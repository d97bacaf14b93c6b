#include "broker_placement.h"

#include <cstddef>

namespace aasm::backend_native {

BrokerPlacement::BrokerPlacement(pid_t broker) : broker_(broker) {
  cpu_set_t all;
  if (::sched_getaffinity(broker, sizeof all, &all) == 0 && CPU_COUNT(&all) > 1) {
    all_ = all;
  }
}

void BrokerPlacement::follow(bool busy) {
  if (!all_) {
    return;
  }
  const int wanted = busy ? kAnywhere : ::sched_getcpu();
  if (wanted == at_) {
    return;
  }
  cpu_set_t only;
  CPU_ZERO(&only);
  if (wanted >= 0 && wanted < CPU_SETSIZE) {
    CPU_SET(static_cast<std::size_t>(wanted), &only);
    CPU_AND(&only, &only, &*all_);
  }
  const bool anywhere = CPU_COUNT(&only) == 0;
  if (::sched_setaffinity(broker_, sizeof only, anywhere ? &*all_ : &only) != 0) {
    all_.reset();  // somebody has other plans
    return;
  }
  at_ = wanted;
}

}  // namespace aasm::backend_native
