#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "aasm/schema/enum_names.h"

// Words of controls, canaries and decisions: docs/spec/product.md section 3.
namespace aasm::schema {

// Why a control was installed. A self-protection control never counts for a claim.
enum class Purpose : std::uint8_t {
  kPolicy,
  kSelfProtection,
};
template <>
struct EnumNames<Purpose> {
  static constexpr std::string_view kWhat = "purpose";
  static constexpr std::array<std::pair<Purpose, std::string_view>, 2> kTokens = {{
      {Purpose::kPolicy, "policy"},
      {Purpose::kSelfProtection, "self_protection"},
  }};
};

// Whether a second witness was at work: it told of a refusal that was made before the start.
enum class WitnessState : std::uint8_t {
  kHeard,
  kUnavailable,
};
template <>
struct EnumNames<WitnessState> {
  static constexpr std::string_view kWhat = "witness state";
  static constexpr std::array<std::pair<WitnessState, std::string_view>, 2> kTokens = {{
      {WitnessState::kHeard, "heard"},
      {WitnessState::kUnavailable, "unavailable"},
  }};
};

// What the enforcing component did. `emulated`: answered as if done, without effect.
enum class DecisionOutcome : std::uint8_t {
  kDenied,
  kAllowed,
  kEmulated,
};
template <>
struct EnumNames<DecisionOutcome> {
  static constexpr std::string_view kWhat = "decision outcome";
  static constexpr std::array<std::pair<DecisionOutcome, std::string_view>, 3> kTokens = {{
      {DecisionOutcome::kDenied, "denied"},
      {DecisionOutcome::kAllowed, "allowed"},
      {DecisionOutcome::kEmulated, "emulated"},
  }};
};

// Why. Only `policy` can carry a prevention claim; docs/spec/product.md section 3.
enum class DecisionCause : std::uint8_t {
  kPolicy,
  kHostPermission,
  kFault,
  kCompat,
  kAmbiguous,
};
template <>
struct EnumNames<DecisionCause> {
  static constexpr std::string_view kWhat = "decision cause";
  static constexpr std::array<std::pair<DecisionCause, std::string_view>, 5> kTokens = {{
      {DecisionCause::kPolicy, "policy"},
      {DecisionCause::kHostPermission, "host_permission"},
      {DecisionCause::kFault, "fault"},
      {DecisionCause::kCompat, "compat"},
      {DecisionCause::kAmbiguous, "ambiguous"},
  }};
};

// What the kernel said to our answer. `caller_gone`: the caller died before it, the call never ran.
enum class ReplyState : std::uint8_t {
  kAccepted,
  kKilledWhileBlocked,
  kCallerGone,
};
template <>
struct EnumNames<ReplyState> {
  static constexpr std::string_view kWhat = "reply state";
  static constexpr std::array<std::pair<ReplyState, std::string_view>, 3> kTokens = {{
      {ReplyState::kAccepted, "accepted"},
      {ReplyState::kKilledWhileBlocked, "killed_while_blocked"},
      {ReplyState::kCallerGone, "caller_gone"},
  }};
};

// How a canary or probe action ended.
enum class AttemptOutcome : std::uint8_t {
  kSucceeded,
  kRefused,
  kError,
  kNotAttempted,
};
template <>
struct EnumNames<AttemptOutcome> {
  static constexpr std::string_view kWhat = "attempt outcome";
  static constexpr std::array<std::pair<AttemptOutcome, std::string_view>, 4> kTokens = {{
      {AttemptOutcome::kSucceeded, "succeeded"},
      {AttemptOutcome::kRefused, "refused"},
      {AttemptOutcome::kError, "error"},
      {AttemptOutcome::kNotAttempted, "not_attempted"},
  }};
};

// Whether the decision channel reported a canary action.
enum class ChannelReport : std::uint8_t {
  kReported,
  kNotReported,
  kNotApplicable,
};
template <>
struct EnumNames<ChannelReport> {
  static constexpr std::string_view kWhat = "channel report";
  static constexpr std::array<std::pair<ChannelReport, std::string_view>, 3> kTokens = {{
      {ChannelReport::kReported, "reported"},
      {ChannelReport::kNotReported, "not_reported"},
      {ChannelReport::kNotApplicable, "not_applicable"},
  }};
};

// How the first program is bound to what was hashed.
enum class BoundBy : std::uint8_t {
  kDescriptor,
  kPath,
};
template <>
struct EnumNames<BoundBy> {
  static constexpr std::string_view kWhat = "binding";
  static constexpr std::array<std::pair<BoundBy, std::string_view>, 2> kTokens = {{
      {BoundBy::kDescriptor, "descriptor"},
      {BoundBy::kPath, "path"},
  }};
};

// Whether the supervisor read the first image at the exec stop.
enum class ExeRead : std::uint8_t {
  kAtExecStop,
  kNotRead,
};
template <>
struct EnumNames<ExeRead> {
  static constexpr std::string_view kWhat = "exe read";
  static constexpr std::array<std::pair<ExeRead, std::string_view>, 2> kTokens = {{
      {ExeRead::kAtExecStop, "at_exec_stop"},
      {ExeRead::kNotRead, "not_read"},
  }};
};

// Why the program ended.
enum class ExitCause : std::uint8_t {
  kExited,
  kSignalled,
  kWallClock,
  kMemoryLimit,
  kKilledByDenial,
  kOperator,
  kEvidenceFailure,
};
template <>
struct EnumNames<ExitCause> {
  static constexpr std::string_view kWhat = "exit cause";
  static constexpr std::array<std::pair<ExitCause, std::string_view>, 7> kTokens = {{
      {ExitCause::kExited, "exited"},
      {ExitCause::kSignalled, "signalled"},
      {ExitCause::kWallClock, "wall_clock"},
      {ExitCause::kMemoryLimit, "memory_limit"},
      {ExitCause::kKilledByDenial, "killed_by_denial"},
      {ExitCause::kOperator, "operator"},
      {ExitCause::kEvidenceFailure, "evidence_failure"},
  }};
};

// How a run ended, as its run.closed says.
enum class RunEnding : std::uint8_t {
  kFinished,
  kRefused,
  kPrepareFailed,
  kCanaryFailed,
  kSelfProtectionFailed,
  kExecFailed,
  kEvidenceFailure,
};
template <>
struct EnumNames<RunEnding> {
  static constexpr std::string_view kWhat = "run ending";
  static constexpr std::array<std::pair<RunEnding, std::string_view>, 7> kTokens = {{
      {RunEnding::kFinished, "finished"},
      {RunEnding::kRefused, "refused"},
      {RunEnding::kPrepareFailed, "prepare_failed"},
      {RunEnding::kCanaryFailed, "canary_failed"},
      {RunEnding::kSelfProtectionFailed, "self_protection_failed"},
      {RunEnding::kExecFailed, "exec_failed"},
      {RunEnding::kEvidenceFailure, "evidence_failure"},
  }};
};

// The part a file plays in starting the program.
enum class ImageRole : std::uint8_t {
  kBinary,
  kScript,
  kInterpreter,
};
template <>
struct EnumNames<ImageRole> {
  static constexpr std::string_view kWhat = "image role";
  static constexpr std::array<std::pair<ImageRole, std::string_view>, 3> kTokens = {{
      {ImageRole::kBinary, "binary"},
      {ImageRole::kScript, "script"},
      {ImageRole::kInterpreter, "interpreter"},
  }};
};

// The type of a rule's selector; containment is decided per type.
enum class SelectorType : std::uint8_t {
  kWhole,
  kPathPrefix,
  kSyscall,
  kEnvironmentName,
  kDescriptor,
  kHostPattern,
  kAddressRange,
  kPort,
  kSocketPath,
  kLimit,
};
template <>
struct EnumNames<SelectorType> {
  static constexpr std::string_view kWhat = "selector type";
  static constexpr std::array<std::pair<SelectorType, std::string_view>, 10> kTokens = {{
      {SelectorType::kWhole, "whole"},
      {SelectorType::kPathPrefix, "path_prefix"},
      {SelectorType::kSyscall, "syscall"},
      {SelectorType::kEnvironmentName, "environment_name"},
      {SelectorType::kDescriptor, "descriptor"},
      {SelectorType::kHostPattern, "host_pattern"},
      {SelectorType::kAddressRange, "address_range"},
      {SelectorType::kPort, "port"},
      {SelectorType::kSocketPath, "socket_path"},
      {SelectorType::kLimit, "limit"},
  }};
};

// What a rule does with what it covers.
enum class RuleEffect : std::uint8_t {
  kAllow,
  kDeny,
};
template <>
struct EnumNames<RuleEffect> {
  static constexpr std::string_view kWhat = "rule effect";
  static constexpr std::array<std::pair<RuleEffect, std::string_view>, 2> kTokens = {{
      {RuleEffect::kAllow, "allow"},
      {RuleEffect::kDeny, "deny"},
  }};
};

// What kind of thing a decision is about.
enum class ObjectType : std::uint8_t {
  kSyscall,
  kPath,
  kAddress,
  kName,
  kProcess,
  kSocket,
  kUnlisted,  // told apart no longer: see EventObject
  kNone,
};
template <>
struct EnumNames<ObjectType> {
  static constexpr std::string_view kWhat = "object type";
  static constexpr std::array<std::pair<ObjectType, std::string_view>, 8> kTokens = {{
      {ObjectType::kSyscall, "syscall"},
      {ObjectType::kPath, "path"},
      {ObjectType::kAddress, "address"},
      {ObjectType::kName, "name"},
      {ObjectType::kProcess, "process"},
      {ObjectType::kSocket, "socket"},
      {ObjectType::kUnlisted, "unlisted"},
      {ObjectType::kNone, "none"},
  }};
};

// What kind of place an address stands for, by its bits alone: what the recorder made of it. An
// IPv4 address that is mapped into IPv6 is that IPv4 address.
enum class AddressClass : std::uint8_t {
  kUnspecified,  // 0.0.0.0, ::
  kLoopback,     // 127.0.0.0/8, ::1
  kMetadata,     // where clouds answer with credentials: 169.254.169.254, fd00:ec2::254, ...
  kLinkLocal,    // 169.254.0.0/16, fe80::/10
  kPrivate,      // RFC 1918, 100.64.0.0/10, fc00::/7, fec0::/10
  kMulticast,    // 224.0.0.0/4, ff00::/8
  kTranslated,   // IPv6 that stands for an IPv4 address elsewhere: NAT64, 6to4, Teredo, ::/96
  kReserved,     // no host has it: documentation, benchmarks, 240.0.0.0/4, broadcast
  kPublic,
};
template <>
struct EnumNames<AddressClass> {
  static constexpr std::string_view kWhat = "address class";
  static constexpr std::array<std::pair<AddressClass, std::string_view>, 9> kTokens = {{
      {AddressClass::kUnspecified, "unspecified"},
      {AddressClass::kLoopback, "loopback"},
      {AddressClass::kMetadata, "metadata"},
      {AddressClass::kLinkLocal, "link_local"},
      {AddressClass::kPrivate, "private"},
      {AddressClass::kMulticast, "multicast"},
      {AddressClass::kTranslated, "translated"},
      {AddressClass::kReserved, "reserved"},
      {AddressClass::kPublic, "public"},
  }};
};

}  // namespace aasm::schema
