#include "canary.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace aasm::backend_native {
namespace {

using planner::LaunchFailure;
using schema::Attempt;
using schema::AttemptOutcome;
using schema::Canary;

constexpr std::int64_t kMaxErrno = 4095;  // include/linux/err.h

std::string attempt_text(const Attempt& attempt) {
  std::string text(schema::token(attempt.outcome));
  return attempt.os_errno == 0 ? text : text + " (errno " + std::to_string(attempt.os_errno) + ")";
}

bool succeeded(const Attempt& attempt) {
  return attempt.outcome == AttemptOutcome::kSucceeded;
}

LaunchFailure failure_of(schema::RunEnding ending, const Canary& canary, std::string detail) {
  LaunchFailure failure;
  failure.ending = ending;
  failure.step = ending == schema::RunEnding::kCanaryFailed ? canary.step : canary.id;
  failure.detail = std::move(detail);
  failure.os_errno = static_cast<int>(canary.inside.os_errno);
  return failure;
}

// Why this canary does not show its step at work; nullopt when it does or is not there to.
std::optional<std::string> fault_of(const ScriptedCanary& scripted) {
  const Canary& canary = scripted.canary;
  if (scripted.missing_control == MissingControl::kIgnored) {
    return std::nullopt;
  }
  if (succeeded(canary.inside)) {
    return canary.id + ": " + canary.action + " succeeded inside the boundary";
  }
  if (!succeeded(canary.control)) {
    return scripted.missing_control == MissingControl::kNoCanary
               ? std::nullopt
               : std::optional<std::string>(canary.id + ": " + canary.action +
                                            " did not succeed without the boundary either: " +
                                            attempt_text(canary.control));
  }
  if (canary.inside.outcome != AttemptOutcome::kRefused) {
    return canary.id + ": " + canary.action + " was not refused but " + attempt_text(canary.inside);
  }
  if (scripted.must_be_reported && canary.channel != schema::ChannelReport::kReported) {
    return canary.id + ": " + canary.action + " was refused, but the channel did not report it";
  }
  return std::nullopt;
}

std::vector<ScriptedCanary> with_results(const CanaryPlan& plan,
                                         std::span<const wire::ScriptResult> results,
                                         const std::set<std::uint32_t>& reported) {
  std::vector<ScriptedCanary> judged = plan.canaries;
  for (ScriptedCanary& scripted : judged) {
    if (scripted.entry < results.size()) {
      const wire::ScriptResult& result = results[scripted.entry];
      scripted.canary.control = read_attempt(result.control, scripted.refusals);
      scripted.canary.inside = read_attempt(result.inside, scripted.refusals);
    }
    if (scripted.must_be_reported) {
      scripted.canary.channel = reported.count(scripted.entry) != 0
                                    ? schema::ChannelReport::kReported
                                    : schema::ChannelReport::kNotReported;
    }
  }
  return judged;
}

std::optional<LaunchFailure> first_failure(const std::vector<ScriptedCanary>& judged) {
  for (const ScriptedCanary& scripted : judged) {
    const std::optional<std::string> fault = fault_of(scripted);
    if (fault) {
      return failure_of(schema::RunEnding::kCanaryFailed, scripted.canary, *fault);
    }
  }
  for (const ScriptedCanary& scripted : judged) {
    const Canary& canary = scripted.canary;
    if (scripted.missing_control == MissingControl::kIgnored && succeeded(canary.inside)) {
      return failure_of(schema::RunEnding::kSelfProtectionFailed, canary,
                        canary.action + " succeeded inside the boundary");
    }
  }
  return std::nullopt;
}

}  // namespace

Attempt read_attempt(std::int64_t raw, const std::vector<int>& refusals) {
  if (raw == wire::kNotAttempted) {
    return {};
  }
  if (raw >= 0 || raw < -kMaxErrno) {
    return {AttemptOutcome::kSucceeded, 0};
  }
  const bool refused = std::find(refusals.begin(), refusals.end(), -raw) != refusals.end();
  return {refused ? AttemptOutcome::kRefused : AttemptOutcome::kError, -raw};
}

CanaryVerdict judge_canaries(const CanaryPlan& plan, std::span<const wire::ScriptResult> results,
                             const std::set<std::uint32_t>& reported) {
  const std::vector<ScriptedCanary> judged = with_results(plan, results, reported);
  CanaryVerdict verdict;
  verdict.failure = first_failure(judged);
  verdict.proved.no_canary = plan.none;
  for (const ScriptedCanary& scripted : judged) {
    const Canary& canary = scripted.canary;
    const bool never_possible = scripted.missing_control == MissingControl::kNoCanary &&
                                !succeeded(canary.control) && !succeeded(canary.inside);
    if (never_possible) {
      verdict.proved.no_canary.push_back(
          {canary.domain, canary.id + ": " + canary.action +
                              " does not succeed here anyway: " + attempt_text(canary.control)});
    } else {
      verdict.proved.canaries.push_back(canary);
    }
  }
  return verdict;
}

}  // namespace aasm::backend_native
