#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aasm/schema/enum_names.h"

// The closed vocabulary of docs/spec/product.md section 1. Tokens stand in policy, records, reports
// and the command line alike.
namespace aasm::schema {

// The nine capability domains, in the order every table and report uses.
enum class Domain : std::uint8_t {
  kFilesystemRead,
  kFilesystemWrite,
  kNetworkEgress,
  kNameResolution,
  kSyscall,
  kProcessCreation,
  kIpc,
  kCredential,
  kResource,
};
template <>
struct EnumNames<Domain> {
  static constexpr std::string_view kWhat = "capability domain";
  static constexpr std::array<std::pair<Domain, std::string_view>, 9> kTokens = {{
      {Domain::kFilesystemRead, "filesystem_read"},
      {Domain::kFilesystemWrite, "filesystem_write"},
      {Domain::kNetworkEgress, "network_egress"},
      {Domain::kNameResolution, "name_resolution"},
      {Domain::kSyscall, "syscall"},
      {Domain::kProcessCreation, "process_creation"},
      {Domain::kIpc, "ipc"},
      {Domain::kCredential, "credential"},
      {Domain::kResource, "resource"},
  }};
};

// The claim terms of the seeds: closed and unordered. Only the first six assert coverage and only
// denied_before_execution is prevention.
enum class ClaimTerm : std::uint8_t {
  kObserved,
  kDetected,
  kEvaluated,
  kDeniedBeforeExecution,
  kRedacted,
  kApprovalRequired,
  kDegraded,
  kUnmeasured,
  kExperimental,
  kPlanned,
  kUnsupported,
};
template <>
struct EnumNames<ClaimTerm> {
  static constexpr std::string_view kWhat = "claim term";
  static constexpr std::array<std::pair<ClaimTerm, std::string_view>, 11> kTokens = {{
      {ClaimTerm::kObserved, "observed"},
      {ClaimTerm::kDetected, "detected"},
      {ClaimTerm::kEvaluated, "evaluated"},
      {ClaimTerm::kDeniedBeforeExecution, "denied_before_execution"},
      {ClaimTerm::kRedacted, "redacted"},
      {ClaimTerm::kApprovalRequired, "approval_required"},
      {ClaimTerm::kDegraded, "degraded"},
      {ClaimTerm::kUnmeasured, "unmeasured"},
      {ClaimTerm::kExperimental, "experimental"},
      {ClaimTerm::kPlanned, "planned"},
      {ClaimTerm::kUnsupported, "unsupported"},
  }};
};

// What a mechanism does with an action of the domain.
enum class Mediation : std::uint8_t {
  kEnforce,
  kObserve,
  kNone,
};
template <>
struct EnumNames<Mediation> {
  static constexpr std::string_view kWhat = "mediation";
  static constexpr std::array<std::pair<Mediation, std::string_view>, 3> kTokens = {{
      {Mediation::kEnforce, "enforce"},
      {Mediation::kObserve, "observe"},
      {Mediation::kNone, "none"},
  }};
};

// When the decision falls, relative to the effect.
enum class Timing : std::uint8_t {
  kPre,
  kInLine,
  kPost,
  kNone,
};
template <>
struct EnumNames<Timing> {
  static constexpr std::string_view kWhat = "decision timing";
  static constexpr std::array<std::pair<Timing, std::string_view>, 4> kTokens = {{
      {Timing::kPre, "pre"},
      {Timing::kInLine, "in_line"},
      {Timing::kPost, "post"},
      {Timing::kNone, "none"},
  }};
};

// Whether the action waits for the decision.
enum class Synchrony : std::uint8_t {
  kSync,
  kBestEffort,
  kNone,
};
template <>
struct EnumNames<Synchrony> {
  static constexpr std::string_view kWhat = "synchrony";
  static constexpr std::array<std::pair<Synchrony, std::string_view>, 3> kTokens = {{
      {Synchrony::kSync, "sync"},
      {Synchrony::kBestEffort, "best_effort"},
      {Synchrony::kNone, "none"},
  }};
};

// What happens when the mechanism itself fails.
enum class FailurePosture : std::uint8_t {
  kFailClosed,
  kFailOpen,
  kFailOpenSilent,
  kSilentTruncation,
  kNotApplicable,
};
template <>
struct EnumNames<FailurePosture> {
  static constexpr std::string_view kWhat = "failure posture";
  static constexpr std::array<std::pair<FailurePosture, std::string_view>, 5> kTokens = {{
      {FailurePosture::kFailClosed, "fail_closed"},
      {FailurePosture::kFailOpen, "fail_open"},
      {FailurePosture::kFailOpenSilent, "fail_open_silent"},
      {FailurePosture::kSilentTruncation, "silent_truncation"},
      {FailurePosture::kNotApplicable, "not_applicable"},
  }};
};

// Which processes the restriction covers.
enum class DescendantCoverage : std::uint8_t {
  kProcessTree,
  kTargetProcessOnly,
  kUnmeasured,
};
template <>
struct EnumNames<DescendantCoverage> {
  static constexpr std::string_view kWhat = "descendant coverage";
  static constexpr std::array<std::pair<DescendantCoverage, std::string_view>, 3> kTokens = {{
      {DescendantCoverage::kProcessTree, "process_tree"},
      {DescendantCoverage::kTargetProcessOnly, "target_process_only"},
      {DescendantCoverage::kUnmeasured, "unmeasured"},
  }};
};

// How far a backend supports a domain.
enum class Support : std::uint8_t {
  kFull,
  kPartial,
  kUnsupported,
};
template <>
struct EnumNames<Support> {
  static constexpr std::string_view kWhat = "support level";
  static constexpr std::array<std::pair<Support, std::string_view>, 3> kTokens = {{
      {Support::kFull, "full"},
      {Support::kPartial, "partial"},
      {Support::kUnsupported, "unsupported"},
  }};
};

// A host prerequisite: satisfied only by a denial watched on this host.
enum class PrerequisiteStatus : std::uint8_t {
  kSatisfied,
  kUnsatisfied,
  kUnchecked,
};
template <>
struct EnumNames<PrerequisiteStatus> {
  static constexpr std::string_view kWhat = "prerequisite status";
  static constexpr std::array<std::pair<PrerequisiteStatus, std::string_view>, 3> kTokens = {{
      {PrerequisiteStatus::kSatisfied, "satisfied"},
      {PrerequisiteStatus::kUnsatisfied, "unsatisfied"},
      {PrerequisiteStatus::kUnchecked, "unchecked"},
  }};
};

// What the workload shares with the host.
enum class PlatformBoundary : std::uint8_t {
  kSharedHostKernel,
  kUserspaceKernel,
  kGuestKernel,
};
template <>
struct EnumNames<PlatformBoundary> {
  static constexpr std::string_view kWhat = "platform boundary";
  static constexpr std::array<std::pair<PlatformBoundary, std::string_view>, 3> kTokens = {{
      {PlatformBoundary::kSharedHostKernel, "shared_host_kernel"},
      {PlatformBoundary::kUserspaceKernel, "userspace_kernel"},
      {PlatformBoundary::kGuestKernel, "guest_kernel"},
  }};
};

// What policy and command line may ask for; never a mechanism or a product.
enum class IsolationClass : std::uint8_t {
  kNone,
  kAuto,
  kProcess,
  kUserspaceKernel,
  kMicrovm,
};
template <>
struct EnumNames<IsolationClass> {
  static constexpr std::string_view kWhat = "isolation class";
  static constexpr std::array<std::pair<IsolationClass, std::string_view>, 5> kTokens = {{
      {IsolationClass::kNone, "none"},
      {IsolationClass::kAuto, "auto"},
      {IsolationClass::kProcess, "process"},
      {IsolationClass::kUserspaceKernel, "userspace-kernel"},
      {IsolationClass::kMicrovm, "microvm"},
  }};
};

// How good a piece of evidence is; the first two are set-up, the rest runtime.
enum class EvidenceGrade : std::uint8_t {
  kConfigured,
  kInstalled,
  kExercised,
  kDecision,
  kIndependentVerification,
};
template <>
struct EnumNames<EvidenceGrade> {
  static constexpr std::string_view kWhat = "evidence grade";
  static constexpr std::array<std::pair<EvidenceGrade, std::string_view>, 5> kTokens = {{
      {EvidenceGrade::kConfigured, "configured"},
      {EvidenceGrade::kInstalled, "installed"},
      {EvidenceGrade::kExercised, "exercised"},
      {EvidenceGrade::kDecision, "decision"},
      {EvidenceGrade::kIndependentVerification, "independent_verification"},
  }};
};

// What a domain's claim rests on, weakest first.
enum class Basis : std::uint8_t {
  kNone,
  kSetupOnly,
  kRuntimeWithoutDecision,
  kDecision,
};
template <>
struct EnumNames<Basis> {
  static constexpr std::string_view kWhat = "evidence basis";
  static constexpr std::array<std::pair<Basis, std::string_view>, 4> kTokens = {{
      {Basis::kNone, "none"},
      {Basis::kSetupOnly, "setup_only"},
      {Basis::kRuntimeWithoutDecision, "runtime_without_decision"},
      {Basis::kDecision, "decision"},
  }};
};

// What is known of a domain's boundary in this run.
enum class BoundaryState : std::uint8_t {
  kProved,
  kInstalled,
  kAbsent,
};
template <>
struct EnumNames<BoundaryState> {
  static constexpr std::string_view kWhat = "boundary state";
  static constexpr std::array<std::pair<BoundaryState, std::string_view>, 3> kTokens = {{
      {BoundaryState::kProved, "proved"},
      {BoundaryState::kInstalled, "installed"},
      {BoundaryState::kAbsent, "absent"},
  }};
};

// What can be said of the decision channel of a run.
enum class ChannelState : std::uint8_t {
  kComplete,
  kCompleteUntilNestedFilter,
  kLossy,
  kUnknownLoss,
  kNone,
};
template <>
struct EnumNames<ChannelState> {
  static constexpr std::string_view kWhat = "channel state";
  static constexpr std::array<std::pair<ChannelState, std::string_view>, 5> kTokens = {{
      {ChannelState::kComplete, "complete"},
      {ChannelState::kCompleteUntilNestedFilter, "complete_until_nested_filter"},
      {ChannelState::kLossy, "lossy"},
      {ChannelState::kUnknownLoss, "unknown_loss"},
      {ChannelState::kNone, "none"},
  }};
};

}  // namespace aasm::schema
