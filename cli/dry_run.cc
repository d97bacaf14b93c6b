#include "dry_run.h"

#include "aasm/claims/report.h"
#include "aasm/schema/utf8.h"

#include "refusal_text.h"

namespace aasm::cli {
namespace {

using schema::escape_for_display;
using schema::Result;

Result<claims::RunFacts> preview_facts(const Launch& launch, const RunCommand& command,
                                       const planner::PlanningOutcome& outcome) {
  claims::RunFacts facts;
  const std::string& boot = launch.conditions.boot_id;
  std::int64_t seq = 0;
  facts.add(seq++, boot, true, AASM_TRY(opened_body(launch, command)));
  facts.add(seq++, boot, true, launch.policy.record);
  for (const schema::CapabilityProbed& probe : outcome.probes) {
    facts.add(seq++, boot, true, probe);
  }
  std::visit([&](const auto& record) { facts.add(seq++, boot, true, record); }, outcome.record);
  const planner::CredentialPosture& posture = launch.spec.credentials;
  facts.set_credentials({posture.removed, posture.delegated, posture.ambient_unremoved});
  return facts;
}

std::vector<std::string> warnings(const planner::PlanningOutcome& outcome) {
  std::vector<std::string> list;
  if (const schema::PlanRefused* refused = outcome.refused()) {
    for (const schema::Refusal& one : refused->refusals) {
      list.push_back("a live run would be refused: " + refusal_text(one));
    }
  }
  return list;
}

void line(std::string& out, const char* key, std::string_view value) {
  out += std::string(key) + ": " + escape_for_display(value) + "\n";
}

std::string policy_section(const Launch& launch) {
  const schema::PolicyResolved& policy = launch.policy.record;
  std::string out = "--- policy ---\n";
  line(out, "state", token(policy.state));
  line(out, "source", launch.policy.source_path.empty() ? "none" : launch.policy.source_path);
  line(out, "digest", policy.document ? "sha256:" + policy.document->hex() : "none");
  line(out, "requirements", std::to_string(policy.requirements.size()));
  return out;
}

std::string launch_section(const Launch& launch, const RunCommand& command) {
  std::string out = "--- launch command ---\n";
  line(out, "working_dir", launch.working_dir);
  line(out, "program", launch.spec.program.bytes());
  line(out, "arguments", std::to_string(command.argv.size() - 1) + " (not shown, not recorded)");
  return out;
}

std::string environment_section(const Launch& launch) {
  std::string out = "--- environment ---\n";
  const auto names = [&](const char* what, const std::vector<std::string>& list) {
    std::string joined;
    for (const std::string& name : list) {
      joined += (joined.empty() ? "" : " ") + escape_for_display(name);
    }
    out += std::string(what) + ": " + (joined.empty() ? "none" : joined) + "\n";
  };
  names("delegated", launch.spec.credentials.delegated);
  names("removed", launch.spec.credentials.removed);
  names("ambient_unremoved", launch.spec.credentials.ambient_unremoved);
  out += "values: never shown and never recorded\n";
  return out;
}

// Of files single calls are decided where policy asks for it.
bool decides_singly(const schema::Requirement& requirement) {
  if (requirement.domain == schema::Domain::kFilesystemRead) {
    return requirement.evidence == schema::EvidenceWish::kDecisions;
  }
  return requirement.domain != schema::Domain::kFilesystemWrite ||
         requirement.evidence != schema::EvidenceWish::kSetup;
}

// What could be shown of each stated domain once the program runs.
std::string evidence_source(const planner::PlanningOutcome& outcome,
                            const schema::Requirement& requirement) {
  const schema::PlanResolved* plan = outcome.plan();
  for (const schema::CapabilityProbed& probe : outcome.probes) {
    const schema::DomainCapability* found = probe.find(requirement.domain);
    if (found != nullptr && plan != nullptr && plan->backend &&
        plan->backend->id == probe.backend.id) {
      return found->channel.mechanism == "none" || !decides_singly(requirement)
                 ? "the set-up and one canary before the start; no single decision"
                 : "single decisions, by " + found->channel.mechanism;
    }
  }
  return "none";
}

std::string plan_section(const Launch& launch, const planner::PlanningOutcome& outcome) {
  std::string out = "--- plan ---\n";
  const schema::PlanResolved* plan = outcome.plan();
  if (plan == nullptr) {
    return out + "none: a live run would be refused, for the reasons at the end\n";
  }
  line(out, "digest", plan->digest.hex());
  line(out, "posture", token(plan->posture));
  for (std::size_t i = 0; i < plan->steps.size(); ++i) {
    line(out, ("step " + std::to_string(i + 1)).c_str(), plan->steps[i]);
  }
  for (const schema::Requirement& one : launch.spec.requirements) {
    line(out, ("evidence of " + std::string(token(one.domain))).c_str(),
         evidence_source(outcome, one));
  }
  return out;
}

schema::JsonValue policy_json(const Launch& launch) {
  const schema::PolicyResolved& policy = launch.policy.record;
  schema::JsonValue::Object object{{"state", schema::JsonValue(token(policy.state))},
                                   {"source", schema::PathBytes(policy.source).to_json()}};
  if (policy.document) {
    object.emplace_back("digest", policy.document->hex());
  }
  object.emplace_back("requirements", static_cast<std::int64_t>(policy.requirements.size()));
  return object;
}

schema::JsonValue launch_json(const Launch& launch, const RunCommand& command) {
  return schema::JsonValue::Object{
      {"working_dir", launch.spec.working_dir.to_json()},
      {"program", launch.spec.program.to_json()},
      {"arg_count", static_cast<std::int64_t>(command.argv.size()) - 1}};
}

schema::JsonValue steps_json(const planner::PlanningOutcome& outcome) {
  schema::JsonValue::Array steps;
  if (const schema::PlanResolved* plan = outcome.plan()) {
    for (const std::string& step : plan->steps) {
      steps.emplace_back(step);
    }
  }
  return steps;
}

}  // namespace

Result<std::string> render_dry_run(const Launch& launch, const RunCommand& command,
                                   const planner::PlanningOutcome& outcome) {
  const claims::RunFacts facts = AASM_TRY(preview_facts(launch, command, outcome));
  const claims::IsolationReport report = claims::build_report(facts, claims::derive(facts), "");
  std::string out = "--- aasm run dry-run ---\n";
  line(out, "agent_id", launch.spec.identity.agent_id);
  line(out, "trace_id", report.trace_id);
  line(out, "session_id", report.session_id);
  out += "\n" + claims::render_summary(report);
  out += "\n--- preview fidelity ---\n";
  out += "Nothing was started and nothing was recorded. Backends were probed now, on this host;\n";
  out += "a live run binds the same plan as long as policy, program, environment and host stay.\n";
  out += "\n--- protection ---\n";
  out += "state: no proxy is built in this version; network traffic is not inspected\n";
  out += "\n" + policy_section(launch);
  out += "\n" + claims::render_human(report);
  out += "\n" + claims::render_machine(report);
  out += "\n" + plan_section(launch, outcome);
  out += "\n--- managed settings ---\n";
  out += "none: a generic command has no settings that aasm manages\n";
  out += "\n" + launch_section(launch, command);
  out += "\n" + environment_section(launch);
  for (const std::string& warning : warnings(outcome)) {
    out += "\nwarning: " + warning;
  }
  return out;
}

Result<schema::JsonValue> dry_run_json(const Launch& launch, const RunCommand& command,
                                       const planner::PlanningOutcome& outcome) {
  const claims::RunFacts facts = AASM_TRY(preview_facts(launch, command, outcome));
  const claims::IsolationReport report = claims::build_report(facts, claims::derive(facts), "");
  schema::JsonValue::Array texts;
  for (const std::string& warning : warnings(outcome)) {
    texts.emplace_back(warning);
  }
  return schema::JsonValue(schema::JsonValue::Object{{"schema", "aasm.dry-run/1"},
                                                     {"report", claims::render_json(report)},
                                                     {"policy", policy_json(launch)},
                                                     {"launch", launch_json(launch, command)},
                                                     {"steps", steps_json(outcome)},
                                                     {"warnings", std::move(texts)}});
}

}  // namespace aasm::cli
