#include "aasm/schema/record_run.h"

namespace aasm::schema {
namespace {

Error invalid(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

}  // namespace

Result<void> RunOpened::check() const {
  if (arg_count < 0) {
    return invalid("a negative argument count");
  }
  if (identity.agent_id.empty()) {
    return invalid("an empty agent id");
  }
  if (claims_rules.empty()) {
    return invalid("no version of the claim rules");
  }
  return {};
}

Result<void> ProcessStarted::check() const {
  if (pid < 1) {
    return invalid("a process id below 1");
  }
  const bool read = exe_read == ExeRead::kAtExecStop;
  if (read != exe_digest.has_value() || read != exe_not_read_reason.empty()) {
    return invalid("the first image has a digest when it was read and a reason when not");
  }
  return {};
}

Result<void> ProcessExited::check() const {
  if (status.has_value() == signal.has_value()) {
    return invalid("a process ends by exactly one of status and signal");
  }
  if (status && (*status < 0 || *status > 255)) {
    return invalid("an exit status outside 0-255");
  }
  if (signal && (*signal < 1 || *signal > 64)) {
    return invalid("a signal outside 1-64");
  }
  if (descendants_killed < 0) {
    return invalid("a negative count");
  }
  return {};
}

Result<void> ChannelTotals::check() const {
  if (events < 0 || actions < 0 || dropped < 0) {
    return invalid("a negative count");
  }
  if (actions < events) {
    return invalid("fewer actions than events");
  }
  if (!present && (opened || closed || events > 0)) {
    return invalid("events without a channel");
  }
  if (closed && !opened) {
    return invalid("a channel closed that was never opened");
  }
  if (nested_filter_event && *nested_filter_event < 1) {
    return invalid("events count from 1");
  }
  if (nested_filter_event && *nested_filter_event > events) {
    return invalid("a nested filter past the last event");
  }
  return {};
}

Result<void> RunClosed::check() const {
  if (records < 1) {
    return invalid("a closed run has at least its run.opened");
  }
  const bool before_start = ending == RunEnding::kRefused || ending == RunEnding::kPrepareFailed ||
                            ending == RunEnding::kCanaryFailed ||
                            ending == RunEnding::kSelfProtectionFailed ||
                            ending == RunEnding::kExecFailed;
  if (before_start && program_started) {
    return invalid("a program that started in a run that ended before the start");
  }
  if (ending == RunEnding::kFinished && !program_started) {
    return invalid("a finished run whose program never started");
  }
  return {};
}

}  // namespace aasm::schema
