#pragma once

#include "aasm/wire/status_page.h"

#include "frame.h"
#include "sys.h"

namespace aasm::helper {

// What a step came to.
struct Outcome {
  wire::StepState state;
  int os_errno;
  uint32_t detail;
};

inline Outcome done(uint32_t detail = 0) {
  return {wire::StepState::kDone, 0, detail};
}
inline Outcome not_requested() {
  return {wire::StepState::kNotRequested, 0, 0};
}
inline Outcome failed(long result, uint32_t detail = 0) {
  return {wire::StepState::kFailed, static_cast<int>(-result), detail};
}

// Stores the outcome where the supervisor sees it. The state goes last (aasm/wire/status_page.h).
inline void report(wire::StatusPage& page, wire::Step step, Outcome outcome) {
  auto& slot = page.steps[static_cast<uint32_t>(step)];
  slot.os_errno = outcome.os_errno;
  slot.detail = outcome.detail;
  __atomic_store_n(&slot.state, static_cast<uint32_t>(outcome.state), __ATOMIC_RELEASE);
}

inline void report_started(wire::StatusPage& page, wire::Step step) {
  report(page, step, {wire::StepState::kStarted, 0, 0});
}

// Reports the outcome and, when it is a failure, ends the process: no later step may run.
inline void report_or_exit(wire::StatusPage& page, wire::Step step, Outcome outcome) {
  report(page, step, outcome);
  if (outcome.state == wire::StepState::kFailed) {
    exit_process(wire::kHelperExitStatus);
  }
}

}  // namespace aasm::helper
