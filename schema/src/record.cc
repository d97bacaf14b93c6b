#include "aasm/schema/record.h"

#include <array>
#include <utility>

namespace aasm::schema {
namespace {

template <class Body>
inline constexpr std::string_view kKind;
template <>
inline constexpr std::string_view kKind<LedgerCreated> = "ledger.created";
template <>
inline constexpr std::string_view kKind<RunOpened> = "run.opened";
template <>
inline constexpr std::string_view kKind<PolicyResolved> = "policy.resolved";
template <>
inline constexpr std::string_view kKind<CapabilityProbed> = "capability.probed";
template <>
inline constexpr std::string_view kKind<PlanResolved> = "plan.resolved";
template <>
inline constexpr std::string_view kKind<PlanRefused> = "plan.refused";
template <>
inline constexpr std::string_view kKind<ControlPrepared> = "control.prepared";
template <>
inline constexpr std::string_view kKind<BoundaryProved> = "boundary.proved";
template <>
inline constexpr std::string_view kKind<ProcessStarted> = "process.started";
template <>
inline constexpr std::string_view kKind<DecisionBatch> = "decision.batch";
template <>
inline constexpr std::string_view kKind<ObservationBatch> = "observation.batch";
template <>
inline constexpr std::string_view kKind<WitnessReported> = "witness.reported";
template <>
inline constexpr std::string_view kKind<ProcessExited> = "process.exited";
template <>
inline constexpr std::string_view kKind<RunClosed> = "run.closed";
template <>
inline constexpr std::string_view kKind<RunRecovered> = "run.recovered";
template <>
inline constexpr std::string_view kKind<KeyRotated> = "key.rotated";
template <>
inline constexpr std::string_view kKind<KeyReplaced> = "key.replaced";
template <>
inline constexpr std::string_view kKind<KeyRevoked> = "key.revoked";

template <std::size_t I = 0>
Result<std::optional<RecordBody>> read_alternative(std::string_view kind, const JsonValue& body) {
  if constexpr (I == std::variant_size_v<RecordBody>) {
    return std::optional<RecordBody>();
  } else {
    using Body = std::variant_alternative_t<I, RecordBody>;
    static_assert(!kKind<Body>.empty(), "every body has a kind");
    if (kind != kKind<Body>) {
      return read_alternative<I + 1>(kind, body);
    }
    return std::optional<RecordBody>(AASM_TRY_CONTEXT(read_fields<Body>(body), kind));
  }
}

}  // namespace

std::string_view kind_of(const RecordBody& body) {
  return std::visit([](const auto& one) { return kKind<std::decay_t<decltype(one)>>; }, body);
}

JsonValue write_body(const RecordBody& body) {
  return std::visit([](const auto& one) { return write_fields(one); }, body);
}

Result<std::optional<RecordBody>> read_body(std::string_view kind, const JsonValue& body) {
  return read_alternative(kind, body);
}

bool permits_start(const RecordBody& body) {
  if (const auto* plan = std::get_if<PlanResolved>(&body)) {
    return plan->posture == LaunchPosture::kUnconfined;
  }
  return std::holds_alternative<BoundaryProved>(body) ||
         std::holds_alternative<ProcessStarted>(body);
}

bool is_ledger_kind(std::string_view kind) {
  return kind.starts_with("ledger.") || kind.starts_with("key.");
}

Result<void> LedgerCreated::check() const {
  if (format != "ledger/1") {
    return Error(ErrorCode::kUnsupported, "not format ledger/1");
  }
  if (host.purpose != "host" || log.purpose != "log") {
    return Error(ErrorCode::kMalformed, "record 0 certifies one host and one log key");
  }
  if (checkpoint_every < 1 || checkpoint_every > 256) {
    return Error(ErrorCode::kMalformed, "checkpoint distance outside 1-256");
  }
  return {};
}

}  // namespace aasm::schema
