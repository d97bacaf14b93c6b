#include <cstddef>

#include "aasm/claims/report.h"
#include "aasm/schema/utf8.h"

#include "text.h"

namespace aasm::claims {
namespace {

// Collects key=value lines. Values are escaped, so that one value is one line.
class Lines {
 public:
  explicit Lines(std::string heading) : text_(std::move(heading)) {}

  void put(const std::string& key, std::string_view value) {
    text_ += key + "=" + schema::escape_for_display(value) + "\n";
  }
  void put(const std::string& key, const char* value) { put(key, std::string_view(value)); }
  void put(const std::string& key, std::int64_t value) {
    put(key, std::string_view(std::to_string(value)));
  }
  void put(const std::string& key, std::size_t value) {
    put(key, std::string_view(std::to_string(value)));
  }
  void put_flag(const std::string& key, bool value) { put(key, value ? "true" : "false"); }

  // `key`_count, then `key`.0, `key`.1, ...
  void put_list(const std::string& key, const std::vector<std::string>& values) {
    put(key + "_count", values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      put(indexed(key, i), values[i]);
    }
  }
  static std::string indexed(const std::string& key, std::size_t index) {
    return key + "." + std::to_string(index);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string number_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : std::string();
}

void put_head(Lines& out, const IsolationReport& report) {
  const RunClaims& claims = report.claims;
  out.put("schema", kReportSchema);
  out.put("stage", schema::token(report.stage));
  out.put("posture", schema::token(claims.posture));
  out.put("posture_detail", claims.posture_detail);
  out.put_flag("least_authority", report.least_authority);
  out.put_list("least_authority.reason", report.least_authority_reasons);
  out.put("run_id", report.run_id);
  out.put("run_state", schema::token(claims.state));
  out.put("claims_rules", claims.rules);
  out.put_flag("claims_rules_known", claims.rules_known);
  out.put_flag("program_started", claims.started);
  out.put_flag("program_may_have_run", claims.started || claims.program_may_have_run);
  out.put("exit_cause", report.exit_cause ? schema::token(*report.exit_cause) : "");
  out.put("exit_status", number_text(report.exit_status));
  out.put("exit_signal", number_text(report.exit_signal));
  out.put("channel", claims.channel.text());
  out.put("isolation", report.isolation);
  out.put("enforcement_mode", report.enforcement_mode);
  out.put("agent_id", report.identity.agent_id);
  out.put("team_id", report.identity.team_id.value_or(""));
  out.put("lineage_depth", report.identity.lineage.size());
  out.put("session_id", report.session_id);
  out.put("trace_id", report.trace_id);
  out.put("target_program", report.target_program.bytes());
  out.put("target_arg_count", report.target_arg_count);
  out.put("plan_digest", report.plan_digest ? report.plan_digest->hex() : std::string());
}

void put_candidate(Lines& out, const std::string& key, const schema::Candidate& candidate) {
  out.put(key + ".id", candidate.backend);
  out.put(key + ".verdict", schema::token(candidate.verdict));
  out.put(key + ".detail", candidate.reason);
  std::vector<std::string> unmet;
  for (const schema::Domain domain : candidate.unmet) {
    unmet.push_back(name_of(domain));
  }
  out.put_list(key + ".unmet_domain", unmet);
}

void put_backend(Lines& out, const IsolationReport& report) {
  out.put_flag("backend_selected", report.backend.has_value());
  if (report.backend) {
    out.put("backend_id", report.backend->id);
    out.put("backend_version", report.backend->version);
    out.put("backend_source", report.backend->source);
    out.put("backend_license", report.backend->license);
    out.put_flag("backend_modified", report.backend->modified);
    out.put_flag("backend_experimental", report.experimental);
  }
  out.put("backend_unavailable", report.backend_unavailable);
  if (!report.selection) {
    return;
  }
  out.put("backend_selection_mode", schema::token(*report.selection));
  const std::string key = "backend_selection.considered";
  out.put(key + "_count", report.candidates.size());
  for (std::size_t i = 0; i < report.candidates.size(); ++i) {
    put_candidate(out, Lines::indexed(key, i), report.candidates[i]);
  }
}

void put_counts(Lines& out, const std::string& key, const DomainClaim& claim) {
  out.put(key + ".denied_actions", claim.denied_actions);
  for (std::size_t i = 0; i < claim.denied_by_rule.size(); ++i) {
    const std::string entry = Lines::indexed(key + ".denied_by_rule", i);
    out.put(entry + ".rule", claim.denied_by_rule[i].rule);
    out.put(entry + ".actions", claim.denied_by_rule[i].actions);
  }
  out.put(key + ".evaluated_actions", claim.evaluated_actions);
  out.put(key + ".observations", claim.observations);
  if (claim.unlisted_actions) {
    out.put(key + ".unlisted_actions", *claim.unlisted_actions);
  }
  for (const DecisionCount& count : claim.decisions) {
    out.put(key + ".decisions." + name_of(count.outcome) + "." + name_of(count.cause),
            count.actions);
  }
  for (const UncountedDenials& uncounted : claim.uncounted_denials) {
    out.put(key + ".denied_uncounted." + name_of(uncounted.failed), uncounted.actions);
  }
}

void put_denials(Lines& out, const std::string& domain_key, const DomainClaim& claim) {
  out.put(domain_key + ".denial_count", claim.denials.size());
  for (std::size_t i = 0; i < claim.denials.size(); ++i) {
    const DenialGroup& group = claim.denials[i];
    const std::string key = Lines::indexed(domain_key + ".denial", i);
    out.put(key + ".operation", group.operation);
    out.put(key + ".cause", schema::token(group.cause));
    out.put(key + ".rule", group.rule);
    out.put(key + ".line", number_text(group.line));
    out.put(key + ".actions", group.actions);
    out.put(key + ".example_count", group.examples.size());
    for (std::size_t j = 0; j < group.examples.size(); ++j) {
      const DenialExample& example = group.examples[j];
      const std::string entry = Lines::indexed(key + ".example", j);
      out.put(entry + ".object", object_text(example.object));
      out.put(entry + ".executable", example.executable.bytes());
      out.put(entry + ".pid", example.pid);
      out.put(entry + ".errno", example.os_errno);
      out.put(entry + ".actions", example.actions);
    }
  }
  out.put(domain_key + ".denials_ungrouped", claim.denials_ungrouped);
}

void put_domain(Lines& out, const DomainReport& row) {
  const DomainClaim& claim = row.claim;
  const std::string key = "domain." + name_of(claim.domain);
  out.put(key + ".requested", schema::token(row.requested));
  out.put(key + ".requested_detail", claim.requested);
  out.put(key + ".state", schema::token(row.state));
  out.put(key + ".state_detail", row.state_detail);
  out.put(key + ".claim", claim.claim_token());
  out.put(key + ".evidence", schema::token(claim.basis));
  out.put(key + ".basis", schema::token(claim.basis));
  out.put(key + ".boundary", schema::token(claim.boundary));
  out.put(key + ".boundary_detail", claim.boundary_reason);
  out.put(key + ".channel", claim.channel.text());
  out.put(key + ".channel_detail", claim.channel_scope);
  put_counts(out, key, claim);
  put_denials(out, key, claim);
  out.put(key + ".detector", claim.detector);
  out.put(key + ".planned", claim.planned);
  out.put(key + ".achieved", claim.achieved);
  out.put_list(key + ".closed_by_self_protection", claim.closed_by_self_protection);
  out.put_list(key + ".policy_gap", row.policy_gaps);
}

void put_refusals(Lines& out, const IsolationReport& report) {
  out.put("refusal_count", report.refusals.size());
  for (std::size_t i = 0; i < report.refusals.size(); ++i) {
    const schema::Refusal& refusal = report.refusals[i];
    const std::string key = Lines::indexed("refusal", i);
    out.put(key + ".launch", schema::token(refusal.launch));
    out.put(key + ".domain", refusal.domain ? schema::token(*refusal.domain) : "");
    out.put(key + ".reason",
            refusal.reason ? schema::token(*refusal.reason) : schema::token(refusal.launch));
    out.put(key + ".detail", refusal.detail);
    out.put(key + ".fix", refusal.fix);
  }
}

void put_inherited(Lines& out, const schema::AmbientAuthority& held) {
  std::size_t residual = 0;
  for (std::size_t i = 0; i < held.descriptors.size(); ++i) {
    const schema::InheritedDescriptor& one = held.descriptors[i];
    const std::string key = Lines::indexed("descriptors.inherited", i);
    out.put(key + ".number", one.number);
    out.put(key + ".kind", schema::token(one.kind));
    out.put_flag(key + ".writable", one.writable);
    out.put(key + ".fate", schema::token(one.fate));
    residual += one.fate == schema::AuthorityFate::kAmbientUnremoved ? 1U : 0U;
  }
  const bool listed = held.descriptors_listed && held.descriptors_unlisted == 0;
  out.put_flag("descriptors.enumeration_complete", listed);
  out.put("descriptors.inherited_count", held.descriptors.size());
  out.put("descriptors.unlisted", held.descriptors_unlisted);
  out.put("descriptors.residual_count", residual);
  out.put_flag("descriptors.asserts_clean_boundary", listed && residual == 0);
}

void put_ambient(Lines& out, const std::optional<schema::AmbientAuthority>& held) {
  out.put_flag("ambient_present", held.has_value());
  if (!held) {
    return;
  }
  out.put("environment.removed_total", held->removed);
  out.put("environment.delegated_total", held->delegated);
  out.put("environment.ambient_unremoved_total", held->ambient_unremoved);
  out.put("environment.sensitive_count", held->sensitive.size());
  for (std::size_t i = 0; i < held->sensitive.size(); ++i) {
    const std::string key = Lines::indexed("environment.sensitive", i);
    out.put(key + ".name", held->sensitive[i].name);
    out.put(key + ".kind", schema::token(held->sensitive[i].kind));
    out.put(key + ".fate", schema::token(held->sensitive[i].fate));
  }
  out.put("environment.sensitive_unlisted", held->sensitive_unlisted);
  put_inherited(out, *held);
}

void put_authority(Lines& out, const IsolationReport& report) {
  out.put_list("credential.removed", report.credentials.removed);
  out.put_list("credential.delegated", report.credentials.delegated);
  out.put_list("credential.ambient_unremoved", report.credentials.ambient_unremoved);
  out.put("credential.contradiction_count", report.credential_contradictions.size());
  out.put_flag("descriptors_present", report.descriptors.has_value());
  if (report.descriptors) {
    std::vector<std::string> numbers;
    for (const std::int64_t number : *report.descriptors) {
      numbers.push_back(std::to_string(number));
    }
    out.put_list("descriptors.passed", numbers);
  }
  put_ambient(out, report.ambient);
  out.put("policy.source", report.policy_source.bytes());
  out.put_list("policy.gap", report.policy_gaps);
  out.put_list("policy.unmapped", report.policy_unmapped);
}

void put_witness(Lines& out, const std::optional<WitnessView>& witness) {
  if (!witness) {
    return;
  }
  out.put("witness.standing", schema::token(witness->standing));
  out.put("witness.reason", witness->reason);
  out.put("witness.heard", witness->heard);
  out.put("witness.account", schema::token(witness->account));
  out.put("witness.missing", witness->missing);
  out.put_flag("witness.compared", witness->compared);
  out.put("witness.unexplained_count", witness->unexplained.size());
}

void put_judgement(Lines& out, const RunClaims& claims) {
  out.put("contradiction_count", claims.contradictions.size());
  for (std::size_t i = 0; i < claims.contradictions.size(); ++i) {
    const std::string key = Lines::indexed("contradiction", i);
    out.put(key + ".code", schema::token(claims.contradictions[i].code));
    out.put(key + ".seq", claims.contradictions[i].seq);
    out.put(key + ".count", claims.contradictions[i].count);
    out.put(key + ".detail", claims.contradictions[i].detail);
  }
  std::vector<std::string> questions;
  for (const OpenQuestion question : claims.open_questions) {
    questions.push_back(name_of(question));
  }
  out.put_list("open_question", questions);
}

}  // namespace

std::string render_machine(const IsolationReport& report) {
  Lines out("--- execution isolation (machine-readable) ---\n");
  put_head(out, report);
  put_backend(out, report);
  std::size_t requirements = 0;
  for (const DomainReport& row : report.domains) {
    requirements += row.claim.stated ? 1U : 0U;
  }
  out.put("requested_requirement_count", requirements);
  out.put("domain_count", report.domains.size());
  for (const DomainReport& row : report.domains) {
    put_domain(out, row);
  }
  put_refusals(out, report);
  put_authority(out, report);
  put_witness(out, report.claims.witness);
  put_judgement(out, report.claims);
  return out.take();
}

}  // namespace aasm::claims
