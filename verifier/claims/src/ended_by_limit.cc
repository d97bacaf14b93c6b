#include "ended_by_limit.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "aasm/schema/address_range.h"

namespace aasm::claims {
namespace {

constexpr std::int64_t kSecond = 1'000'000;  // microseconds

// Seconds; nullopt for a text that is no number.
std::optional<std::int64_t> seconds_of(const schema::PolicyRule& rule) {
  const std::optional<int> seconds =
      schema::parse_plain_decimal(rule.selector.value.bytes(), 2'000'000'000);
  return seconds ? std::optional<std::int64_t>(*seconds) : std::nullopt;
}

}  // namespace

std::string_view limit_of(schema::ExitCause cause) {
  switch (cause) {
    case schema::ExitCause::kWallClock:
      return "wall_clock_seconds";
    case schema::ExitCause::kMemoryLimit:
      return "memory_bytes";
    case schema::ExitCause::kExited:
    case schema::ExitCause::kSignalled:
    case schema::ExitCause::kKilledByDenial:
    case schema::ExitCause::kOperator:
    case schema::ExitCause::kEvidenceFailure:
      break;
  }
  return "";
}

bool states_limit(const schema::Requirement& requirement, std::string_view limit) {
  return !limit.empty() &&
         std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const schema::PolicyRule& rule) { return rule.operation == limit; });
}

bool cannot_have_reached(const schema::Requirement* requirement,
                         const schema::ProcessExited& exited) {
  const std::string_view limit = limit_of(exited.cause);
  if (limit.empty()) {
    return false;
  }
  if (requirement == nullptr || !states_limit(*requirement, limit)) {
    return true;
  }
  return exited.cause == schema::ExitCause::kWallClock &&
         std::none_of(requirement->rules.begin(), requirement->rules.end(),
                      [&](const schema::PolicyRule& rule) {
                        const std::optional<std::int64_t> seconds = seconds_of(rule);
                        // The clock is started and read beside the program: a second is room.
                        return rule.operation == limit &&
                               (!seconds || exited.use.wall_us + kSecond >= *seconds * kSecond);
                      });
}

}  // namespace aasm::claims
