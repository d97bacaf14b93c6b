#pragma once

#include <sched.h>
#include <sys/types.h>

#include <optional>

namespace aasm::backend_native {

// Keeps the broker on the processor of the thread that orders its calls while there is one call at
// a time. That thread sleeps while the broker works, but the kernel sees it running when it wakes
// the broker and prefers an idle processor, whose wake-up costs more than the call (measured: two
// thirds of a brokered open). With more calls under way the broker goes where it may. One thread.
class BrokerPlacement {
 public:
  // What the broker may use now is what it may use beyond this.
  explicit BrokerPlacement(pid_t broker);

  // Before a call is sent. `busy`: the broker has others.
  void follow(bool busy);

 private:
  static constexpr int kAnywhere = -1;

  pid_t broker_;
  std::optional<cpu_set_t> all_;  // empty: left to the kernel
  int at_ = kAnywhere;
};

}  // namespace aasm::backend_native
