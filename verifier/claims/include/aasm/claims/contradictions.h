#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/schema/enum_names.h"

namespace aasm::claims {

// Ways in which the records of one run contradict each other: docs/spec/product.md section 5, last
// bullets, and the order that section 3 demands. Each fails verification.
enum class ContradictionCode : std::uint8_t {
  kStartedDespiteUnmetRequirement,
  kStartedDespiteRefusal,
  kStartedAfterFailedStep,
  kSetupRecordMissing,
  kSetupAfterStart,
  kControlAfterStart,
  kPartMissing,
  kRecordRepeated,
  kOutcomeContradictsPolicy,
  kPlanDigestDiffers,
  kProbeReferenceDiffers,
  kCanarySucceededInside,
  kStartedDigestNotPrepared,
  kActivityBeforeStart,
  kAllowedByDenyRule,
  kAllowedByUnknownRule,
  kAllowedOutsideRule,
  kEventNumbersNotContiguous,
  kEventTotalsDiffer,
  kClosingDiffers,
  kRecordOfAnotherBoot,
  kSignerNotAccepted,
  kProbeMissing,
  kControlRepeated,
  kCanaryRepeated,
  kEnforcedWithoutControl,
  kDeniedWithoutBoundary,
  kDeniedAgainstPolicy,
  kDeniedWhileObserving,
  kDeniedWithoutErrno,
  kEventCountOverflow,
  kExitCauseDiffers,
  kOutcomeExceedsProbe,
  kDegradedExceedsProbe,
  kBackendWasUnavailable,
  kIsolationClassDiffers,
  kInventoryDiffers,
};

// One contradiction: how often it was met, and where first. Details are one line and hold no raw
// bytes from outside.
struct Contradiction {
  ContradictionCode code = ContradictionCode::kRecordRepeated;
  std::int64_t count = 0;
  std::int64_t seq = 0;  // record at which it was first seen; -1 when it is about a missing record
  std::string detail;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("code", self.code);
    v.field("count", self.count);
    v.field("seq", self.seq);
    v.field("detail", self.detail);
  }
  bool operator==(const Contradiction&) const = default;
};

// Contradictions by code; at most one entry a code, so that memory stays bounded however often one
// is met. The first detail stays.
class ContradictionLog {
 public:
  void note(ContradictionCode code, std::int64_t seq, std::string_view detail);
  bool has(ContradictionCode code) const { return entries_.count(code) != 0; }
  std::vector<Contradiction> list() const;  // in the order of the codes

 private:
  std::map<ContradictionCode, Contradiction> entries_;
};

}  // namespace aasm::claims

template <>
struct aasm::schema::EnumNames<aasm::claims::ContradictionCode> {
  using E = aasm::claims::ContradictionCode;
  static constexpr std::string_view kWhat = "contradiction";
  static constexpr std::array<std::pair<E, std::string_view>, 37> kTokens = {{
      {E::kStartedDespiteUnmetRequirement, "started_despite_unmet_requirement"},
      {E::kStartedDespiteRefusal, "started_despite_refusal"},
      {E::kStartedAfterFailedStep, "started_after_failed_step"},
      {E::kSetupRecordMissing, "setup_record_missing"},
      {E::kSetupAfterStart, "setup_after_start"},
      {E::kControlAfterStart, "control_after_start"},
      {E::kPartMissing, "part_missing"},
      {E::kRecordRepeated, "record_repeated"},
      {E::kOutcomeContradictsPolicy, "outcome_contradicts_policy"},
      {E::kPlanDigestDiffers, "plan_digest_differs"},
      {E::kProbeReferenceDiffers, "probe_reference_differs"},
      {E::kCanarySucceededInside, "canary_succeeded_inside"},
      {E::kStartedDigestNotPrepared, "started_digest_not_prepared"},
      {E::kActivityBeforeStart, "activity_before_start"},
      {E::kAllowedByDenyRule, "allowed_by_deny_rule"},
      {E::kAllowedByUnknownRule, "allowed_by_unknown_rule"},
      {E::kAllowedOutsideRule, "allowed_outside_rule"},
      {E::kEventNumbersNotContiguous, "event_numbers_not_contiguous"},
      {E::kEventTotalsDiffer, "event_totals_differ"},
      {E::kClosingDiffers, "closing_differs"},
      {E::kRecordOfAnotherBoot, "record_of_another_boot"},
      {E::kSignerNotAccepted, "signer_not_accepted"},
      {E::kProbeMissing, "probe_missing"},
      {E::kControlRepeated, "control_repeated"},
      {E::kCanaryRepeated, "canary_repeated"},
      {E::kEnforcedWithoutControl, "enforced_without_control"},
      {E::kDeniedWithoutBoundary, "denied_without_boundary"},
      {E::kDeniedAgainstPolicy, "denied_against_policy"},
      {E::kDeniedWhileObserving, "denied_while_observing"},
      {E::kDeniedWithoutErrno, "denied_without_errno"},
      {E::kEventCountOverflow, "event_count_overflow"},
      {E::kExitCauseDiffers, "exit_cause_differs"},
      {E::kOutcomeExceedsProbe, "outcome_exceeds_probe"},
      {E::kDegradedExceedsProbe, "degraded_exceeds_probe"},
      {E::kBackendWasUnavailable, "backend_was_unavailable"},
      {E::kIsolationClassDiffers, "isolation_class_differs"},
      {E::kInventoryDiffers, "inventory_differs"},
  }};
};
