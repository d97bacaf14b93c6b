#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/claims/contradictions.h"
#include "aasm/claims/denials.h"
#include "aasm/claims/facts.h"
#include "aasm/claims/witness.h"
#include "aasm/schema/plan_vocabulary.h"
#include "aasm/schema/vocabulary.h"

namespace aasm::claims {

inline constexpr std::string_view kClaimsRules = "claims/1";

// How far a run came.
enum class RunState : std::uint8_t {
  kOpen,               // no closing record: a preview, a live run, or an unfinished one
  kFinished,           // run.closed: the program started and ended
  kRefused,            // run.closed: refused before the start
  kFailedBeforeStart,  // run.closed: preparation, canaries, self-protection or exec failed
  kEvidenceFailure,    // run.closed: ended because evidence could not be written
  kInterrupted,        // run.recovered: its supervisor died
};

// The posture of the launch as a whole: that of the plan, or that there was none.
enum class ReportedPosture : std::uint8_t {
  kReady,
  kDegraded,
  kUnconfined,  // isolation none
  kRefused,     // no program ran: refused, or failed before the start
  kNotPlanned,  // neither plan nor refusal is recorded
};

// Why verification can't say yes although nothing contradicts.
enum class OpenQuestion : std::uint8_t {
  kRunOpenedMissing,
  kClaimsRulesUnknown,         // the run recorded other rules than claims/1: no claim is derived
  kProbeReferenceNotSupplied,  // the record a probe refers to was not at hand
  kObjectCoverageUndecided,    // an allowed object could not be compared with the rule it cites
  kWitnessDisagrees,           // the kernel told of a refusal that no decision explains
};

// A channel state with its number: events lost for lossy, the announcing event's number for
// complete_until_nested_filter, else 0.
struct ChannelView {
  schema::ChannelState state = schema::ChannelState::kNone;
  std::int64_t number = 0;

  std::string text() const;  // "lossy(3)"
  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("state", self.state);
    v.field("number", self.number);
  }
  bool operator==(const ChannelView&) const = default;
};

struct RuleCount {
  std::string rule;
  std::int64_t actions = 0;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("rule", self.rule);
    v.field("actions", self.actions);
  }
};

// Policy denials that rule 2 did not accept, by the first conjunct that failed.
struct UncountedDenials {
  Conjunct failed = Conjunct::kDecisionRecord;
  std::int64_t actions = 0;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("failed", self.failed);
    v.field("actions", self.actions);
  }
};

// Workload decisions of one outcome and cause, in actions; zero counts are left out.
struct DecisionCount {
  schema::DecisionOutcome outcome = schema::DecisionOutcome::kDenied;
  schema::DecisionCause cause = schema::DecisionCause::kPolicy;
  std::int64_t actions = 0;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("outcome", self.outcome);
    v.field("cause", self.cause);
    v.field("actions", self.actions);
  }
};

// What may be said of one domain. `claim` is absent when the domain is not stated, and for every
// domain when the rules are unknown. Boundary, channel and basis stand beside the claim, never
// instead of it.
struct DomainClaim {
  schema::Domain domain = schema::Domain::kFilesystemRead;
  bool stated = false;
  std::optional<schema::ClaimTerm> claim;
  std::int64_t denied_actions = 0;        // counted by rule 2
  std::vector<RuleCount> denied_by_rule;  // by policy rule id, sorted
  std::int64_t evaluated_actions = 0;     // counted by rule 3
  std::vector<UncountedDenials> uncounted_denials;
  std::vector<DecisionCount> decisions;
  std::vector<DenialGroup> denials;    // of the workload, with the first examples of each
  std::int64_t denials_ungrouped = 0;  // actions of further groups
  std::int64_t observations = 0;
  std::optional<std::int64_t> unlisted_actions;  // of all these: without object; absent: none
  std::string detector;                          // rule 4: what noticed
  schema::BoundaryState boundary = schema::BoundaryState::kAbsent;
  std::string boundary_reason;  // installed: why not proved; absent: why; proved: the canary's id
  ChannelView channel;
  std::string channel_scope;  // what the channel sees, as probed; empty without one
  schema::Basis basis = schema::Basis::kNone;
  std::string planned;  // degraded: both levels
  std::string achieved;
  std::string
      requested;  // "intent=..., posture=..., descendants=..., scope=..."; empty: not stated
  std::vector<std::string> closed_by_self_protection;  // control ids, sorted

  // True when the sentence "no denial was recorded" may be printed.
  bool may_state_absence() const {
    return stated && channel.state == schema::ChannelState::kComplete;
  }
  // The claim's token; "not_stated", or "not_derived" when the rules are unknown.
  std::string_view claim_token() const;
  // The same with counts: "denied_before_execution (3 actions)".
  std::string claim_text() const;
};

// Everything derived from one run. A value; computed, never stored.
struct RunClaims {
  std::string rules;  // as recorded by the run
  bool rules_known = false;
  RunState state = RunState::kOpen;
  bool started = false;
  bool program_may_have_run = false;  // interrupted before process.started, after the boundary
  ReportedPosture posture = ReportedPosture::kNotPlanned;
  std::string posture_detail;
  ChannelView channel;  // of the run as a whole
  std::optional<WitnessView> witness;
  std::array<DomainClaim, kNumDomains> domains;
  std::vector<Contradiction> contradictions;  // any of them: FAILED
  std::vector<OpenQuestion> open_questions;   // any of them: INCONCLUSIVE

  const DomainClaim& of(schema::Domain domain) const;
};

// Applies the rules claims/1 of docs/spec/product.md section 5. Pure.
RunClaims derive(const RunFacts& facts);

}  // namespace aasm::claims

template <>
struct aasm::schema::EnumNames<aasm::claims::RunState> {
  using E = aasm::claims::RunState;
  static constexpr std::string_view kWhat = "run state";
  static constexpr std::array<std::pair<E, std::string_view>, 6> kTokens = {{
      {E::kOpen, "open"},
      {E::kFinished, "finished"},
      {E::kRefused, "refused"},
      {E::kFailedBeforeStart, "failed_before_start"},
      {E::kEvidenceFailure, "evidence_failure"},
      {E::kInterrupted, "interrupted"},
  }};
};

template <>
struct aasm::schema::EnumNames<aasm::claims::ReportedPosture> {
  using E = aasm::claims::ReportedPosture;
  static constexpr std::string_view kWhat = "posture";
  static constexpr std::array<std::pair<E, std::string_view>, 5> kTokens = {{
      {E::kReady, "ready"},
      {E::kDegraded, "degraded"},
      {E::kUnconfined, "unconfined"},
      {E::kRefused, "refused"},
      {E::kNotPlanned, "not_planned"},
  }};
};

template <>
struct aasm::schema::EnumNames<aasm::claims::OpenQuestion> {
  using E = aasm::claims::OpenQuestion;
  static constexpr std::string_view kWhat = "open question";
  static constexpr std::array<std::pair<E, std::string_view>, 5> kTokens = {{
      {E::kRunOpenedMissing, "run_opened_missing"},
      {E::kClaimsRulesUnknown, "claims_rules_unknown"},
      {E::kProbeReferenceNotSupplied, "probe_reference_not_supplied"},
      {E::kObjectCoverageUndecided, "object_coverage_undecided"},
      {E::kWitnessDisagrees, "witness_disagrees"},
  }};
};
