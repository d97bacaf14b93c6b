#include "policy_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

using planner::PolicyFinding;
using planner::ResolvedPolicy;
using planner::Severity;
using planner::SourceProblem;
using schema::escape_for_display;
using schema::JsonValue;

std::string_view word(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
  }
  return "";
}

void line(std::string& out, const char* key, const std::string& value) {
  std::string name(key);
  name.resize(11, ' ');
  out += name + value + "\n";
}

std::string document_line(std::string_view scope, const std::string& path,
                          const schema::Sha256& digest) {
  return escape_for_display(path) + (scope.empty() ? "" : " (" + std::string(scope) + ")") +
         ", sha256:" + digest.hex();
}

std::string stated_domains(const ResolvedPolicy& policy) {
  std::string text;
  for (const schema::Requirement& one : policy.record.requirements) {
    text += (text.empty() ? "" : ", ") + std::string(token(one.domain)) + " (" +
            std::to_string(one.rules.size()) + (one.rules.size() == 1 ? " rule)" : " rules)");
  }
  return text.empty() ? "none" : text;
}

// A gap says nothing new where its node is listed with the others that are not stated.
bool is_unstated(const schema::PolicyGap& gap) {
  return gap.domain && gap.reason.starts_with("not stated: left open");
}

std::string notes(const ResolvedPolicy& policy) {
  std::string out;
  std::string open;
  for (const schema::PolicyGap& gap : policy.record.gaps) {
    if (is_unstated(gap)) {
      open += (open.empty() ? "" : ", ") + gap.node;
      continue;
    }
    const std::optional<SourceProblem> at = planner::statement_place(policy, gap.node);
    out += (at ? place_text(*at) + ": " : "") + "note: " + escape_for_display(gap.node) + ": " +
           escape_for_display(gap.reason) + "\n";
  }
  for (const schema::PolicyGap& one : policy.record.unmapped) {
    out += "note: " + escape_for_display(one.node) + ": " + escape_for_display(one.reason) + "\n";
  }
  if (!open.empty()) {
    out += "note: not stated, so left open: " + escape_for_display(open) + "\n";
  }
  return out;
}

JsonValue text_or_null(const std::string& text) {
  return text.empty() ? JsonValue() : JsonValue(escape_for_display(text));
}

JsonValue::Object place_json(const SourceProblem& where) {
  return {{"file", text_or_null(where.source)},
          {"line", where.at ? JsonValue(where.at->line) : JsonValue()},
          {"column", where.at ? JsonValue(where.at->column) : JsonValue()},
          {"text", where.text}};
}

JsonValue finding_json(std::string_view severity, const std::string& code, const std::string& rule,
                       const SourceProblem& where) {
  JsonValue::Object object = place_json(where);
  object.emplace_back("severity", severity);
  object.emplace_back("code", code);
  object.emplace_back("rule", text_or_null(rule));
  return object;
}

JsonValue gaps_json(const ResolvedPolicy& policy, const std::vector<schema::PolicyGap>& gaps) {
  JsonValue::Array items;
  for (const schema::PolicyGap& gap : gaps) {
    SourceProblem where =
        planner::statement_place(policy, gap.node).value_or(SourceProblem{"", std::nullopt, ""});
    where.text = gap.reason;
    JsonValue::Object object = place_json(where);
    object.emplace_back("node", gap.node);
    object.emplace_back("domain", gap.domain ? JsonValue(token(*gap.domain)) : JsonValue());
    items.emplace_back(std::move(object));
  }
  return items;
}

JsonValue documents_json(const ResolvedPolicy& policy) {
  JsonValue::Array items;
  if (policy.documents.empty() && policy.record.document) {
    items.emplace_back(JsonValue::Object{{"file", text_or_null(policy.source_path)},
                                         {"scope", JsonValue()},
                                         {"sha256", policy.record.document->hex()}});
  }
  for (const planner::LoadedDocument& one : policy.documents) {
    const std::optional<schema::PolicyScope> scope = one.document.metadata.scope;
    items.emplace_back(JsonValue::Object{{"file", text_or_null(one.path)},
                                         {"scope", scope ? JsonValue(token(*scope)) : JsonValue()},
                                         {"sha256", one.digest.hex()}});
  }
  return items;
}

}  // namespace

std::string place_text(const SourceProblem& where) {
  std::string text = escape_for_display(where.source);
  if (where.at) {
    text += ":" + std::to_string(where.at->line) + ":" + std::to_string(where.at->column);
  }
  return text;
}

std::string policy_text(const ResolvedPolicy& policy, const std::vector<PolicyFinding>& findings) {
  std::string out;
  for (const planner::LoadedDocument& one : policy.documents) {
    const std::optional<schema::PolicyScope> scope = one.document.metadata.scope;
    line(out, "document", document_line(scope ? token(*scope) : "", one.path, one.digest));
  }
  if (policy.documents.empty() && policy.record.document) {
    line(out, "document", document_line("", policy.source_path, *policy.record.document));
  }
  for (const std::string& place : policy.documents.empty() && policy.source_path.empty()
                                      ? policy.looked_in
                                      : std::vector<std::string>()) {
    line(out, "looked in", escape_for_display(place));
  }
  line(out, "found by", policy.record.source_kind);
  line(out, "state", std::string(token(policy.record.state)));
  line(out, "states", stated_domains(policy));
  for (const SourceProblem& problem : policy.problems) {
    out += place_text(problem) + ": error: " + problem.text + "\n";
  }
  for (const PolicyFinding& one : findings) {
    const std::string place = place_text(one.where);
    out += (place.empty() ? "" : place + ": ") + std::string(word(one.severity)) + ": " +
           one.where.text + " [" + one.code + "]\n";
  }
  return out + notes(policy);
}

JsonValue policy_json(const ResolvedPolicy& policy, const std::vector<PolicyFinding>& findings) {
  JsonValue::Array found;
  for (const SourceProblem& problem : policy.problems) {
    found.push_back(finding_json("error", "load_failed", "", problem));
  }
  for (const PolicyFinding& one : findings) {
    found.push_back(finding_json(word(one.severity), one.code, one.rule, one.where));
  }
  JsonValue::Array domains;
  for (const schema::Requirement& one : policy.record.requirements) {
    domains.emplace_back(token(one.domain));
  }
  return JsonValue::Object{{"schema", "aasm.policy-check/1"},
                           {"state", token(policy.record.state)},
                           {"source_kind", policy.record.source_kind},
                           {"documents", documents_json(policy)},
                           {"domains", std::move(domains)},
                           {"findings", std::move(found)},
                           {"gaps", gaps_json(policy, policy.record.gaps)},
                           {"unmapped", gaps_json(policy, policy.record.unmapped)}};
}

bool has_errors(const ResolvedPolicy& policy, const std::vector<PolicyFinding>& findings) {
  return policy.record.state == schema::PolicyState::kLoadFailed ||
         std::any_of(findings.begin(), findings.end(),
                     [](const PolicyFinding& one) { return one.severity == Severity::kError; });
}

}  // namespace aasm::cli
