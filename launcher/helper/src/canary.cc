#include "canary.h"

#include "sys.h"

namespace aasm::helper {

namespace {

alignas(16) char scratch[wire::kScratchSize];

int64_t& result_of(wire::StatusPage& page, uint64_t index, Half half) {
  auto& result = page.results[index];
  return half == Half::kControl ? result.control : result.inside;
}

// The value to pass for one argument. check_frame() bounded every offset and index.
long argument(const Frame& frame, wire::StatusPage& page, const wire::ScriptEntry& entry,
              uint32_t index, Half half, ScriptPids pids) {
  const uint64_t value = entry.args[index];
  switch (static_cast<wire::ArgKind>(entry.arg_kinds[index])) {
    case wire::ArgKind::kValue:
      break;
    case wire::ArgKind::kData:
      return address(frame.data + value);
    case wire::ArgKind::kScratch:
      return address(scratch + value);
    case wire::ArgKind::kResult:
      return result_of(page, value, half);
    case wire::ArgKind::kOwnPid:
      return pids.own;
    case wire::ArgKind::kWardenPid:
      return pids.warden;
  }
  return static_cast<long>(value);
}

}  // namespace

void run_script(const Frame& frame, wire::StatusPage& page, Half half, ScriptPids pids) {
  const uint8_t when = half == Half::kControl ? wire::kWhenControl : wire::kWhenInside;
  const uint8_t close = half == Half::kControl ? wire::kCloseAfterControl : wire::kCloseAfterInside;
  for (uint32_t i = 0; i < frame.num_entries; ++i) {
    const auto& entry = frame.script[i];
    if ((entry.when & when) == 0) {
      continue;
    }
    long args[6];
    for (uint32_t k = 0; k < 6; ++k) {
      args[k] = argument(frame, page, entry, k, half, pids);
    }
    const long result =
        raw_call(entry.number, args[0], args[1], args[2], args[3], args[4], args[5]);
    if (result == 0 && (entry.flags & wire::kExitInChild) != 0) {
      exit_process(0);
    }
    __atomic_store_n(&result_of(page, i, half), result, __ATOMIC_RELEASE);
    if (result >= 0 && (entry.flags & close) != 0) {
      close_fd(static_cast<int>(result));
    }
  }
}

}  // namespace aasm::helper
