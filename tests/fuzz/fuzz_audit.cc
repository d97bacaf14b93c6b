#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "audit_text.h"
#include "witness_tally.h"

// What the kernel's audit tells, one record a line; the first byte of a line chooses its type.
// Whatever it is: what was read holds no more than its limits, and what is counted of it is a sound
// record body.
namespace {

using namespace aasm::backend_native;

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void check_denial(const audit::Denial& denial) {
  require(!denial.blockers.empty() && denial.blockers.size() <= audit::kMaxTextBytes);
  require(denial.detail.size() <= audit::kMaxTextBytes);
  require(!denial.path || denial.path->find('\0') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr pid_t kLaunchChild = 7;
  std::string_view left(reinterpret_cast<const char*>(data), size);
  WitnessTally tally(kLaunchChild);
  tally.start_after(1000);
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    const std::string_view line = left.substr(0, end);
    left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    if (line.empty()) {
      continue;
    }
    const std::uint16_t type =
        line.front() == 'd' ? audit::kLandlockDomain : audit::kLandlockAccess;
    if (const auto record = audit::read_record(type, line.substr(1))) {
      if (const auto* denial = std::get_if<audit::Denial>(&record->said)) {
        check_denial(*denial);
      }
      tally.add(*record);
    }
  }
  aasm::schema::WitnessReported report = tally.report();
  report.state = tally.before_start() > 0 ? aasm::schema::WitnessState::kHeard
                                          : aasm::schema::WitnessState::kUnavailable;
  report.reason = tally.before_start() > 0 ? "" : "not heard";
  require(static_cast<bool>(report.check()));
  for (const auto& denial : report.denials) {
    require(static_cast<bool>(denial.check()));
  }
  return 0;
}
