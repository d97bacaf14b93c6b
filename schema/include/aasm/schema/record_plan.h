#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aasm/schema/activity_vocabulary.h"
#include "aasm/schema/digest.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/plan_vocabulary.h"
#include "aasm/schema/record_authority.h"
#include "aasm/schema/record_run.h"
#include "aasm/schema/vocabulary.h"

// Bodies of `capability.probed`, `plan.resolved`, `plan.refused` (docs/spec/product.md sections 3,
// 4).
namespace aasm::schema {

struct BackendIdentity {
  std::string id;  // aasm-native
  std::string version;
  std::string source;
  std::string license;  // SPDX
  bool modified = false;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("id", self.id);
    v.field("version", self.version);
    v.field("source", self.source);
    v.field("license", self.license);
    v.field("modified", self.modified);
  }
};

// How one attempt at an action ended; `os_errno` is 0 unless refused or error.
struct Attempt {
  AttemptOutcome outcome = AttemptOutcome::kNotAttempted;
  std::int64_t os_errno = 0;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("outcome", self.outcome);
    v.field("errno", self.os_errno);
  }
  bool operator==(const Attempt&) const = default;
};

// One controlled pair: the same action without the boundary and inside it.
struct ProbeAttempt {
  std::string action;  // "openat(O_RDONLY) of an ungranted file"
  Attempt control;
  Attempt inside;  // made by a grandchild of the confined process
  ChannelReport channel = ChannelReport::kNotApplicable;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("action", self.action);
    v.field("control", self.control);
    v.field("inside", self.inside);
    v.field("channel", self.channel);
  }
};

struct Prerequisite {
  std::string text;
  PrerequisiteStatus status = PrerequisiteStatus::kUnchecked;
  std::string detail;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("text", self.text);
    v.field("status", self.status);
    v.field("detail", self.detail);
  }
};

// What reports single decisions of a domain, if anything does.
struct DecisionChannel {
  std::string mechanism;  // "none" when there is no channel
  std::string scope;      // what it sees, one sentence
  bool can_lose = false;
  std::string loss_counted_by;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("mechanism", self.mechanism);
    v.field("scope", self.scope);
    v.field("can_lose", self.can_lose);
    v.field("loss_counted_by", self.loss_counted_by);
  }
};

// One domain of a CapabilitySet: the axes, derived from what the attempts showed.
struct DomainCapability {
  Domain domain = Domain::kFilesystemRead;
  Support support = Support::kUnsupported;
  std::string reason;                    // unsupported: why
  std::vector<std::string> limitations;  // partial: what is not covered; never empty then
  Mediation mediation = Mediation::kNone;
  Timing timing = Timing::kNone;
  Synchrony synchrony = Synchrony::kNone;
  FailurePosture failure = FailurePosture::kNotApplicable;
  DescendantCoverage descendants = DescendantCoverage::kUnmeasured;
  std::vector<Prerequisite> prerequisites;
  DecisionChannel channel;
  std::vector<ProbeAttempt> attempts;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("domain", self.domain);
    v.field("support", self.support);
    v.field("reason", self.reason);
    v.field("limitations", self.limitations);
    v.field("mediation", self.mediation);
    v.field("timing", self.timing);
    v.field("synchrony", self.synchrony);
    v.field("failure", self.failure);
    v.field("descendants", self.descendants);
    v.field("prerequisites", self.prerequisites);
    v.field("channel", self.channel);
    v.field("attempts", self.attempts);
  }
  Result<void> check() const;
  bool can_prevent() const;  // enforce, pre, sync, not unsupported, every prerequisite satisfied
  bool can_observe() const;
};

// Where the record of an earlier probe stands.
struct ProbeReference {
  std::int64_t seq = 0;
  LeafHash leaf;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("seq", self.seq);
    v.field("leaf", self.leaf);
  }
};

// A CapabilitySet as measured, with what it was measured under. With `reference`, `domains` is
// empty: the named record of this ledger holds them, under equal `conditions`.
struct CapabilityProbed {
  BackendIdentity backend;
  PlatformBoundary boundary = PlatformBoundary::kSharedHostKernel;
  HostConditions conditions;
  bool available = false;
  std::string unavailable_reason;
  std::vector<DomainCapability> domains;
  std::optional<ProbeReference> reference;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("backend", self.backend);
    v.field("boundary", self.boundary);
    v.field("conditions", self.conditions);
    v.field("available", self.available);
    v.field("unavailable_reason", self.unavailable_reason);
    v.field("domains", self.domains);
    v.field("reference", self.reference);
  }
  Result<void> check() const;  // no domain twice
  const DomainCapability* find(Domain domain) const;
};

struct Candidate {
  std::string backend;
  CandidateVerdict verdict = CandidateVerdict::kNotConsidered;
  std::string reason;
  std::vector<Domain> unmet;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("backend", self.backend);
    v.field("verdict", self.verdict);
    v.field("reason", self.reason);
    v.field("unmet", self.unmet);
  }
};

// The one outcome of one requirement. `planned` and `achieved` are levels ("prevent_before_effect",
// "observe", "none"); both are stated when degraded.
struct RequirementOutcome {
  Domain domain = Domain::kFilesystemRead;
  OutcomeKind kind = OutcomeKind::kUnmet;
  RequirementPosture posture = RequirementPosture::kRequired;
  Timing timing = Timing::kNone;
  DescendantCoverage descendants = DescendantCoverage::kUnmeasured;
  std::optional<RefusalReason> reason;
  std::string detail;
  std::string planned;
  std::string achieved;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("domain", self.domain);
    v.field("kind", self.kind);
    v.field("posture", self.posture);
    v.field("timing", self.timing);
    v.field("descendants", self.descendants);
    v.field("reason", self.reason);
    v.field("detail", self.detail);
    v.field("planned", self.planned);
    v.field("achieved", self.achieved);
  }
  Result<void> check() const;
};

struct PlanResolved {
  IsolationClass requested = IsolationClass::kAuto;
  SelectionMode selection = SelectionMode::kAutomatic;
  std::vector<Candidate> candidates;
  std::optional<BackendIdentity> backend;  // absent: isolation none
  bool experimental = false;
  LaunchPosture posture = LaunchPosture::kReady;
  std::vector<RequirementOutcome> outcomes;
  std::vector<std::string> steps;  // what will be installed, in order, one sentence each
  Sha256 digest;  // SHA-256 of the canonical text of spec, requirements and outcomes
  // what the launcher held; not part of the digest. Absent in records of before 2026-12
  std::optional<AmbientAuthority> ambient;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("requested", self.requested);
    v.field("selection", self.selection);
    v.field("candidates", self.candidates);
    v.field("backend", self.backend);
    v.field("experimental", self.experimental);
    v.field("posture", self.posture);
    v.field("outcomes", self.outcomes);
    v.field("steps", self.steps);
    v.field("digest", self.digest);
    v.field("ambient", self.ambient);
  }
  Result<void> check() const;
  const RequirementOutcome* outcome_for(Domain domain) const;
};

// One reason of a refusal. `launch` says what kind; a requirement_unmet one names domain and
// reason.
struct Refusal {
  LaunchRefusal launch = LaunchRefusal::kRequirementUnmet;
  std::optional<Domain> domain;
  std::optional<RefusalReason> reason;
  std::string detail;  // what was asked and what this host gives
  std::string fix;     // what to do about it

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("launch", self.launch);
    v.field("domain", self.domain);
    v.field("reason", self.reason);
    v.field("detail", self.detail);
    v.field("fix", self.fix);
  }
  Result<void> check() const;
};

struct PlanRefused {
  IsolationClass requested = IsolationClass::kAuto;
  SelectionMode selection = SelectionMode::kAutomatic;
  std::vector<Candidate> candidates;
  std::vector<Refusal> refusals;            // never empty; all failures together
  std::optional<AmbientAuthority> ambient;  // as in plan.resolved, had the program started

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("requested", self.requested);
    v.field("selection", self.selection);
    v.field("candidates", self.candidates);
    v.field("refusals", self.refusals);
    v.field("ambient", self.ambient);
  }
  Result<void> check() const;
};

}  // namespace aasm::schema
