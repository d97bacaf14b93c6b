#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aasm/schema/enum_names.h"

// Words of policy and planning: docs/spec/product.md sections 3 and 4.
namespace aasm::schema {

// What a requirement wants of a domain.
enum class Intent : std::uint8_t {
  kPreventBeforeEffect,
  kObserve,
};
template <>
struct EnumNames<Intent> {
  static constexpr std::string_view kWhat = "intent";
  static constexpr std::array<std::pair<Intent, std::string_view>, 2> kTokens = {{
      {Intent::kPreventBeforeEffect, "prevent_before_effect"},
      {Intent::kObserve, "observe"},
  }};
};

// What happens when a requirement is not met.
enum class RequirementPosture : std::uint8_t {
  kRequired,
  kOptional,
  kDegradeIfUnavailable,
};
template <>
struct EnumNames<RequirementPosture> {
  static constexpr std::string_view kWhat = "requirement posture";
  static constexpr std::array<std::pair<RequirementPosture, std::string_view>, 3> kTokens = {{
      {RequirementPosture::kRequired, "required"},
      {RequirementPosture::kOptional, "optional"},
      {RequirementPosture::kDegradeIfUnavailable, "degrade_if_unavailable"},
  }};
};

// How policy resolution ended; the last two refuse a launch.
enum class PolicyState : std::uint8_t {
  kEnforced,
  kPermissive,
  kUnconfigured,
  kLoadFailed,
};
template <>
struct EnumNames<PolicyState> {
  static constexpr std::string_view kWhat = "policy state";
  static constexpr std::array<std::pair<PolicyState, std::string_view>, 4> kTokens = {{
      {PolicyState::kEnforced, "enforced"},
      {PolicyState::kPermissive, "permissive"},
      {PolicyState::kUnconfigured, "unconfigured"},
      {PolicyState::kLoadFailed, "load_failed"},
  }};
};

// Whom a document of a policy speaks for, from the widest on. One document a scope.
enum class PolicyScope : std::uint8_t {
  kGlobal,
  kOrg,
  kTeam,
  kAgent,
  kTool,
};
template <>
struct EnumNames<PolicyScope> {
  static constexpr std::string_view kWhat = "policy scope";
  static constexpr std::array<std::pair<PolicyScope, std::string_view>, 5> kTokens = {{
      {PolicyScope::kGlobal, "global"},
      {PolicyScope::kOrg, "org"},
      {PolicyScope::kTeam, "team"},
      {PolicyScope::kAgent, "agent"},
      {PolicyScope::kTool, "tool"},
  }};
};

// The level of filesystem decisions a policy asks for.
enum class EvidenceWish : std::uint8_t {
  kSetup,
  kWriteDecisions,
  kDecisions,
};
template <>
struct EnumNames<EvidenceWish> {
  static constexpr std::string_view kWhat = "evidence wish";
  static constexpr std::array<std::pair<EvidenceWish, std::string_view>, 3> kTokens = {{
      {EvidenceWish::kSetup, "setup"},
      {EvidenceWish::kWriteDecisions, "write-decisions"},
      {EvidenceWish::kDecisions, "decisions"},
  }};
};

// What policy lets be done for a second witness, the kernel's audit of Landlock's denials: listen
// where the host audits, or switch its audit on for the run where it is off.
enum class WitnessWish : std::uint8_t {
  kListen,
  kEnable,
};
template <>
struct EnumNames<WitnessWish> {
  static constexpr std::string_view kWhat = "witness wish";
  static constexpr std::array<std::pair<WitnessWish, std::string_view>, 2> kTokens = {{
      {WitnessWish::kListen, "listen"},
      {WitnessWish::kEnable, "enable"},
  }};
};

// Why one requirement is not met; the first failing check in this order wins.
enum class RefusalReason : std::uint8_t {
  kNoCapabilityReported,
  kDomainUnsupported,
  kObserveOnlyForPreventionRequirement,
  kDecisionTooLate,
  kDecisionNotSynchronous,
  kPrerequisiteUnsatisfied,
  kDescendantCoverageInsufficient,
  kNoEvidenceProduced,
};
template <>
struct EnumNames<RefusalReason> {
  static constexpr std::string_view kWhat = "refusal reason";
  static constexpr std::array<std::pair<RefusalReason, std::string_view>, 8> kTokens = {{
      {RefusalReason::kNoCapabilityReported, "no_capability_reported"},
      {RefusalReason::kDomainUnsupported, "domain_unsupported"},
      {RefusalReason::kObserveOnlyForPreventionRequirement,
       "observe_only_for_prevention_requirement"},
      {RefusalReason::kDecisionTooLate, "decision_too_late"},
      {RefusalReason::kDecisionNotSynchronous, "decision_not_synchronous"},
      {RefusalReason::kPrerequisiteUnsatisfied, "prerequisite_unsatisfied"},
      {RefusalReason::kDescendantCoverageInsufficient, "descendant_coverage_insufficient"},
      {RefusalReason::kNoEvidenceProduced, "no_evidence_produced"},
  }};
};

// Why a launch as a whole is refused before the program starts.
enum class LaunchRefusal : std::uint8_t {
  kRequirementUnmet,
  kBackendUnavailable,
  kPolicyUnconfigured,
  kPolicyLoadFailed,
  kPolicyPermissive,
  kNoRequirements,
  kFilesystemNotStated,
  kGrantCoversEvidence,
  kGrantCoversControl,
  kProgramNotFound,
  kProgramNotExecutable,
  kNestedRunUnsupported,
};
template <>
struct EnumNames<LaunchRefusal> {
  static constexpr std::string_view kWhat = "launch refusal";
  static constexpr std::array<std::pair<LaunchRefusal, std::string_view>, 12> kTokens = {{
      {LaunchRefusal::kRequirementUnmet, "requirement_unmet"},
      {LaunchRefusal::kBackendUnavailable, "backend_unavailable"},
      {LaunchRefusal::kPolicyUnconfigured, "policy_unconfigured"},
      {LaunchRefusal::kPolicyLoadFailed, "policy_load_failed"},
      {LaunchRefusal::kPolicyPermissive, "policy_permissive"},
      {LaunchRefusal::kNoRequirements, "no_requirements"},
      {LaunchRefusal::kFilesystemNotStated, "filesystem_not_stated"},
      {LaunchRefusal::kGrantCoversEvidence, "grant_covers_evidence"},
      {LaunchRefusal::kGrantCoversControl, "grant_covers_control"},
      {LaunchRefusal::kProgramNotFound, "program_not_found"},
      {LaunchRefusal::kProgramNotExecutable, "program_not_executable"},
      {LaunchRefusal::kNestedRunUnsupported, "nested_run_unsupported"},
  }};
};

// What negotiation found for one requirement.
enum class OutcomeKind : std::uint8_t {
  kEnforced,
  kObserved,
  kDegraded,
  kUnmet,
  kNoBoundary,
};
template <>
struct EnumNames<OutcomeKind> {
  static constexpr std::string_view kWhat = "outcome";
  static constexpr std::array<std::pair<OutcomeKind, std::string_view>, 5> kTokens = {{
      {OutcomeKind::kEnforced, "enforced"},
      {OutcomeKind::kObserved, "observed"},
      {OutcomeKind::kDegraded, "degraded"},
      {OutcomeKind::kUnmet, "unmet"},
      {OutcomeKind::kNoBoundary, "no_boundary"},
  }};
};

// What selection made of one backend.
enum class CandidateVerdict : std::uint8_t {
  kSelected,
  kRejectedUnavailable,
  kRejectedRequirementsUnmet,
  kNotConsidered,
};
template <>
struct EnumNames<CandidateVerdict> {
  static constexpr std::string_view kWhat = "candidate verdict";
  static constexpr std::array<std::pair<CandidateVerdict, std::string_view>, 4> kTokens = {{
      {CandidateVerdict::kSelected, "selected"},
      {CandidateVerdict::kRejectedUnavailable, "rejected_unavailable"},
      {CandidateVerdict::kRejectedRequirementsUnmet, "rejected_requirements_unmet"},
      {CandidateVerdict::kNotConsidered, "not_considered"},
  }};
};

// How the backend was chosen.
enum class SelectionMode : std::uint8_t {
  kAutomatic,
  kExplicit,
  kNone,
};
template <>
struct EnumNames<SelectionMode> {
  static constexpr std::string_view kWhat = "selection mode";
  static constexpr std::array<std::pair<SelectionMode, std::string_view>, 3> kTokens = {{
      {SelectionMode::kAutomatic, "automatic"},
      {SelectionMode::kExplicit, "explicit"},
      {SelectionMode::kNone, "none"},
  }};
};

// The posture of a plan as a whole.
enum class LaunchPosture : std::uint8_t {
  kReady,
  kDegraded,
  kUnconfined,
};
template <>
struct EnumNames<LaunchPosture> {
  static constexpr std::string_view kWhat = "launch posture";
  static constexpr std::array<std::pair<LaunchPosture, std::string_view>, 3> kTokens = {{
      {LaunchPosture::kReady, "ready"},
      {LaunchPosture::kDegraded, "degraded"},
      {LaunchPosture::kUnconfined, "unconfined"},
  }};
};

}  // namespace aasm::schema
