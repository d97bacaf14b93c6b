#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aasm/claims/claims.h"
#include "aasm/claims/facts.h"
#include "aasm/schema/json_value.h"
#include "aasm/schema/record.h"
#include "aasm/schema/result.h"

namespace aasm::claims {

inline constexpr std::string_view kReportSchema = "aasm.isolation.report/1";

enum class ReportStage : std::uint8_t {
  kPreLaunch,  // no process.started is recorded
  kPostRun,
};

// What policy said of a domain. `not_derived`: no policy.resolved is recorded.
enum class RequestedControl : std::uint8_t {
  kStated,
  kNotStated,
  kNotDerived,
};

// What the plan makes of a domain.
enum class ControlState : std::uint8_t {
  kPrevention,
  kObserveOnly,
  kDegraded,
  kUnsupported,
  kUnmeasured,
};

// One row of the table: what was asked, what the plan makes of it, and what may be claimed.
struct DomainReport {
  RequestedControl requested = RequestedControl::kNotDerived;
  ControlState state = ControlState::kUnmeasured;
  std::string state_detail;
  DomainClaim claim;
  std::vector<std::string> policy_gaps;

  // The JSON form: claim and evidence stand flat beside what was asked.
  template <class V, class S>
  static void describe(V& v, S& self) {
    const DomainClaim& claim = self.claim;
    v.field("domain", claim.domain);
    v.field("requested", self.requested);
    v.field("requested_detail", claim.requested);
    v.field("state", self.state);
    v.field("state_detail", self.state_detail);
    v.field("claim", std::string(claim.claim_token()));
    v.field("denied_actions", claim.denied_actions);
    v.field("denied_by_rule", claim.denied_by_rule);
    v.field("evaluated_actions", claim.evaluated_actions);
    v.field("uncounted_denials", claim.uncounted_denials);
    v.field("decisions", claim.decisions);
    v.field("denials", claim.denials);
    v.field("denials_ungrouped", claim.denials_ungrouped);
    v.field("observations", claim.observations);
    v.field("unlisted_actions", claim.unlisted_actions);
    v.field("detector", claim.detector);
    v.field("basis", claim.basis);
    v.field("boundary", claim.boundary);
    v.field("boundary_reason", claim.boundary_reason);
    v.field("channel", claim.channel);
    v.field("channel_scope", claim.channel_scope);
    v.field("planned", claim.planned);
    v.field("achieved", claim.achieved);
    v.field("closed_by_self_protection", claim.closed_by_self_protection);
    v.field("policy_gaps", self.policy_gaps);
  }
};

// The isolation report: one projection of RunFacts and RunClaims, rendered the same way by a dry
// run, by a live run and by `verify`. Built only by build_report(); a value.
struct IsolationReport {
  ReportStage stage = ReportStage::kPreLaunch;
  std::string run_id;  // empty before a run exists
  RunClaims claims;
  bool least_authority = false;
  std::vector<std::string> least_authority_reasons;
  schema::AgentIdentity identity;
  std::string session_id;
  std::string trace_id;
  schema::PathBytes target_program;
  std::int64_t target_arg_count = 0;
  std::string isolation;         // requested class; empty when run.opened is missing
  std::string enforcement_mode;  // as recorded
  schema::PathBytes policy_source;
  std::optional<schema::BackendIdentity> backend;
  std::string backend_unavailable;
  bool experimental = false;
  std::optional<schema::SelectionMode> selection;
  std::vector<schema::Candidate> candidates;
  std::optional<schema::Sha256> plan_digest;
  std::vector<DomainReport> domains;  // nine, in the order of the vocabulary
  std::vector<schema::Refusal> refusals;
  CredentialNames credentials;
  std::vector<std::string> credential_contradictions;    // named as removed and as passed on
  std::optional<std::vector<std::int64_t>> descriptors;  // passed numbers; absent: no inventory
  std::optional<schema::AmbientAuthority> ambient;  // what the launcher held; absent: not recorded
  std::vector<std::string> policy_gaps;             // of no single domain
  std::vector<std::string> policy_unmapped;
  std::optional<schema::ExitCause> exit_cause;
  std::optional<std::int64_t> exit_status;
  std::optional<std::int64_t> exit_signal;
};

// `claims` must be derive(facts). `run_id` is printed as given.
IsolationReport build_report(const RunFacts& facts, const RunClaims& claims,
                             std::string_view run_id);

// For a person who reads one screen: what ran, inside what, what was refused, what was not
// measured, how to check it. Begins with the heading "--- summary ---". Escaped as render_human().
std::string render_summary(const IsolationReport& report);

// For a person: begins with the heading "--- execution isolation ---". Every value is escaped to
// one line (escape_for_display). The same report gives the same bytes.
std::string render_human(const IsolationReport& report);

// Begins with "--- execution isolation (machine-readable) ---", then one key=value per line; split
// at the first '='. Values are escaped to one line.
std::string render_machine(const IsolationReport& report);

// The report as JSON; json_write() of it is what --format json prints.
schema::JsonValue render_json(const IsolationReport& report);

// Differences between two JSON reports, empty when they agree: a report is derived in all its
// members, so all are compared, but for the positions of contradictions, which a live run does not
// know. One sentence for each member of the report and of each domain that differs, naming the
// first place in it: "syscall.decisions[0].actions: ...". Sentences repeat values of `given`
// escaped and cut. kMalformed when `given` is not a report; kUnsupported when it has another schema
// version.
schema::Result<std::vector<std::string>> compare_claims(const schema::JsonValue& given,
                                                        const schema::JsonValue& recomputed);

// A reason against least authority: what nobody listed may have been anything.
inline constexpr std::string_view kNoInventoryReason =
    "no inventory of inherited descriptors is recorded";

// `report`, the JSON of a run that precedes_inventory(), as the versions that wrote such runs
// derived it: they had no groups of denials, policy source and exit status, and did not count a
// missing inventory against least authority.
schema::JsonValue as_before_inventory(schema::JsonValue report);

}  // namespace aasm::claims

template <>
struct aasm::schema::EnumNames<aasm::claims::ReportStage> {
  using E = aasm::claims::ReportStage;
  static constexpr std::string_view kWhat = "report stage";
  static constexpr std::array<std::pair<E, std::string_view>, 2> kTokens = {{
      {E::kPreLaunch, "pre_launch"},
      {E::kPostRun, "post_run"},
  }};
};

template <>
struct aasm::schema::EnumNames<aasm::claims::RequestedControl> {
  using E = aasm::claims::RequestedControl;
  static constexpr std::string_view kWhat = "requested control";
  static constexpr std::array<std::pair<E, std::string_view>, 3> kTokens = {{
      {E::kStated, "stated"},
      {E::kNotStated, "not_stated"},
      {E::kNotDerived, "not_derived"},
  }};
};

template <>
struct aasm::schema::EnumNames<aasm::claims::ControlState> {
  using E = aasm::claims::ControlState;
  static constexpr std::string_view kWhat = "control state";
  static constexpr std::array<std::pair<E, std::string_view>, 5> kTokens = {{
      {E::kPrevention, "prevention"},
      {E::kObserveOnly, "observe_only"},
      {E::kDegraded, "degraded"},
      {E::kUnsupported, "unsupported"},
      {E::kUnmeasured, "unmeasured"},
  }};
};
