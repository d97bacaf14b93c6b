#include "aasm/claims/report.h"
#include "aasm/schema/fields.h"
#include "aasm/schema/utf8.h"

#include "text.h"

namespace aasm::claims {
namespace {

using schema::JsonValue;

struct RunView {
  const IsolationReport& report;

  template <class V, class S>
  static void describe(V& v, S& self) {
    const RunClaims& claims = self.report.claims;
    v.field("id", self.report.run_id);
    v.field("state", claims.state);
    v.field("program_started", claims.started);
    v.field("program_may_have_run", claims.started || claims.program_may_have_run);
    v.field("exit_cause", self.report.exit_cause);
    v.field("exit_status", self.report.exit_status);
    v.field("exit_signal", self.report.exit_signal);
    v.field("channel", claims.channel);
    v.field("identity", self.report.identity);
    v.field("session_id", self.report.session_id);
    v.field("trace_id", self.report.trace_id);
    v.field("target_program", self.report.target_program);
    v.field("target_arg_count", self.report.target_arg_count);
    v.field("isolation", self.report.isolation);
    v.field("enforcement_mode", self.report.enforcement_mode);
  }
};

struct PlanView {
  const IsolationReport& report;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("backend", self.report.backend);
    v.field("backend_unavailable", self.report.backend_unavailable);
    v.field("experimental", self.report.experimental);
    v.field("selection", self.report.selection);
    v.field("candidates", self.report.candidates);
    v.field("digest", self.report.plan_digest);
    v.field("refusals", self.report.refusals);
  }
};

struct AuthorityView {
  const IsolationReport& report;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("least_authority", self.report.least_authority);
    v.field("reasons", self.report.least_authority_reasons);
    v.field("credentials", self.report.credentials);
    v.field("credential_contradictions", self.report.credential_contradictions);
    v.field("descriptors", self.report.descriptors);
    v.field("ambient", self.report.ambient);
  }
};

struct PolicyView {
  const IsolationReport& report;

  template <class V, class S>
  static void describe(V& v, S& self) {
    v.field("source", self.report.policy_source);
    v.field("gaps", self.report.policy_gaps);
    v.field("unmapped", self.report.policy_unmapped);
  }
};

struct ReportView {
  const IsolationReport& report;

  template <class V, class S>
  static void describe(V& v, S& self) {
    const RunClaims& claims = self.report.claims;
    v.field("schema", std::string(kReportSchema));
    v.field("stage", self.report.stage);
    v.field("claims_rules", claims.rules);
    v.field("claims_rules_known", claims.rules_known);
    v.field("posture", claims.posture);
    v.field("posture_detail", claims.posture_detail);
    v.field("run", RunView{self.report});
    v.field("plan", PlanView{self.report});
    v.field("domains", self.report.domains);
    v.field("authority", AuthorityView{self.report});
    v.field("policy", PolicyView{self.report});
    v.field("witness", claims.witness);
    v.field("contradictions", claims.contradictions);
    v.field("open_questions", claims.open_questions);
  }
};

// A preview's texts come straight from the host and may be any bytes; JSON text may not.
void make_valid(JsonValue& value) {
  if (const std::string* text = value.as_string()) {
    if (!schema::is_valid_utf8(*text)) {
      value = JsonValue(schema::escape_for_display(*text));
    }
  } else if (JsonValue::Array* items = value.as_array()) {
    for (JsonValue& item : *items) {
      make_valid(item);
    }
  } else if (JsonValue::Object* members = value.as_object()) {
    for (JsonValue::Member& member : *members) {
      make_valid(member.second);
    }
  }
}

}  // namespace

JsonValue render_json(const IsolationReport& report) {
  JsonValue value = schema::write_fields(ReportView{report});
  make_valid(value);
  return value;
}

}  // namespace aasm::claims
