#include <utility>

#include "aasm/claims/report.h"
#include "aasm/schema/utf8.h"

#include "report_sections.h"
#include "text.h"

namespace aasm::claims {
namespace {

constexpr std::size_t kLabelWidth = 17;

// "label:           value", the value escaped to one line.
std::string labelled(std::string label, std::string_view value) {
  label += ":";
  label.append(label.size() < kLabelWidth ? kLabelWidth - label.size() : 1, ' ');
  return label + schema::escape_for_display(value) + "\n";
}

std::string_view posture_label(ReportedPosture posture) {
  switch (posture) {
    case ReportedPosture::kReady:
      return "READY";
    case ReportedPosture::kDegraded:
      return "DEGRADED";
    case ReportedPosture::kUnconfined:
      return "NO BOUNDARY ESTABLISHED";
    case ReportedPosture::kRefused:
      return "REFUSED";
    case ReportedPosture::kNotPlanned:
      return "NO PLAN RECORDED";
  }
  return "";
}

std::string_view stage_sentence(ReportStage stage) {
  switch (stage) {
    case ReportStage::kPreLaunch:
      return "pre_launch: no program has started; this is what is planned, not what was shown";
    case ReportStage::kPostRun:
      return "post_run: derived from the records of the run";
  }
  return "";
}

std::string state_sentence(const RunClaims& claims) {
  switch (claims.state) {
    case RunState::kOpen:
      return claims.started ? "open: no closing record yet" : "open";
    case RunState::kFinished:
      return "finished";
    case RunState::kRefused:
      return "refused: no program ran";
    case RunState::kFailedBeforeStart:
      return "failed_before_start: no program ran";
    case RunState::kEvidenceFailure:
      return "evidence_failure: ended because evidence could not be written";
    case RunState::kInterrupted:
      return claims.started || claims.program_may_have_run
                 ? "interrupted: the supervisor died; the program may have run, and its last 250 "
                   "ms of events may be missing"
                 : "interrupted: the supervisor died before the program could run";
  }
  return "";
}

std::string least_authority_text(const IsolationReport& report) {
  return report.least_authority ? "yes, as far as recorded"
                                : "no: " + joined(report.least_authority_reasons, "; ");
}

std::string identity_lines(const IsolationReport& report) {
  const schema::AgentIdentity& identity = report.identity;
  const std::string lineage = joined(identity.lineage, " > ");
  std::string text;
  text += labelled("agent_id", identity.agent_id);
  text += labelled("team_id", identity.team_id.value_or("<none>"));
  text += labelled("lineage", lineage.empty() ? "root launch" : lineage);
  text += labelled("session_id", report.session_id);
  text += labelled("trace_id", report.trace_id);
  text += labelled("target", report.target_program.bytes() + " (" +
                                 counted(report.target_arg_count, "argument") + ")");
  return text;
}

std::string backend_text(const IsolationReport& report) {
  if (!report.backend) {
    return report.claims.posture == ReportedPosture::kUnconfined
               ? "none consulted: isolation none asks for no boundary"
               : "none selected";
  }
  const schema::BackendIdentity& backend = *report.backend;
  return backend.id + " " + backend.version + " (" + backend.source + ", " + backend.license +
         (backend.modified ? ", modified)" : ")") + (report.experimental ? ", experimental" : "");
}

std::string selection_lines(const IsolationReport& report) {
  std::string text = labelled("backend", backend_text(report));
  if (!report.backend_unavailable.empty()) {
    text += labelled("backend_refusal", report.backend_unavailable);
  }
  if (report.selection) {
    text += labelled("selection", schema::token(*report.selection));
  }
  for (const schema::Candidate& candidate : report.candidates) {
    std::string considered = candidate.backend + ": " + name_of(candidate.verdict);
    if (!candidate.reason.empty()) {
      considered += ": " + candidate.reason;
    }
    text += labelled("  considered", considered);
  }
  return text;
}

std::string requested_block(const IsolationReport& report) {
  std::string lines;
  for (const DomainReport& row : report.domains) {
    if (row.claim.stated) {
      lines += "  " + name_of(row.claim.domain) + ": " +
               schema::escape_for_display(row.claim.requested) + "\n";
    }
  }
  if (lines.empty()) {
    lines = "  WARNING: policy requests nothing; that is not permission, and nothing is enforced\n";
  }
  return "\nrequested capability set:\n" + lines;
}

}  // namespace

std::string render_human(const IsolationReport& report) {
  const RunClaims& claims = report.claims;
  std::string text = "--- execution isolation ---\n";
  text += labelled("schema", kReportSchema);
  text += labelled("stage", stage_sentence(report.stage));
  text += labelled("posture", posture_label(claims.posture));
  if (!claims.posture_detail.empty()) {
    text += labelled("posture_detail", claims.posture_detail);
  }
  text += labelled("least_authority", least_authority_text(report));
  text += labelled(
      "run", (report.run_id.empty() ? "<none>" : report.run_id) + ", " + state_sentence(claims));
  text += labelled("rules", claims.rules_known
                                ? claims.rules
                                : "unknown here: no claim is derived (" + claims.rules + ")");
  if (report.exit_cause) {
    text += labelled("ended by", schema::token(*report.exit_cause));
  }
  text += identity_lines(report);
  text += labelled("isolation", report.isolation);
  text += selection_lines(report);
  text += requested_block(report);
  text += domain_table(report);
  text += claim_sentences(report);
  text += witness_block(report);
  text += shortfall_block(report);
  text += refusal_block(report);
  text += policy_block(report);
  text += self_protection_block(report);
  text += authority_block(report);
  text += unmeasured_block(report);
  text += judgement_block(report);
  return text;
}

}  // namespace aasm::claims
