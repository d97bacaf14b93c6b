#include "explain_text.h"

#include <cstring>
#include <utility>

#include "aasm/schema/utf8.h"

namespace aasm::cli {
namespace {

using planner::Explanation;
using schema::escape_for_display;
using schema::JsonValue;

std::string errno_name(int os_errno) {
  const char* name = ::strerrorname_np(os_errno);
  return name != nullptr ? name : "errno " + std::to_string(os_errno);
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

// The document a rule stands in: of several, ids begin with the scope of theirs.
std::string document_of(const std::string& rule, const planner::ResolvedPolicy& policy) {
  const std::string scope = rule.substr(0, rule.find(':'));
  for (const schema::PolicySource& other :
       policy.record.extends.value_or(std::vector<schema::PolicySource>())) {
    if (scope == token(other.scope)) {
      return other.source.bytes();
    }
  }
  return policy.source_path;
}

std::string statement_text(const Explanation& one, const planner::ResolvedPolicy& policy) {
  if (one.policy == planner::PolicyWord::kNotStated) {
    return "policy does not state " + (one.action.domain == schema::Domain::kResource
                                           ? "resources." + one.action.object
                                           : std::string(token(one.action.domain)));
  }
  std::string text = one.rule + ", " + escape_for_display(document_of(one.rule, policy));
  if (one.line) {
    text += " line " + std::to_string(*one.line);
  }
  const bool covered = one.action.domain == schema::Domain::kResource ||
                       one.policy == planner::PolicyWord::kAllowed ||
                       one.rule.find('[') != std::string::npos;
  return covered ? text : text + ": no entry covers it";
}

std::string document_text(const planner::DocumentSaying& document) {
  const bool grants = document.word == planner::PolicyWord::kAllowed;
  return escape_for_display(document.source) +
         (document.line ? " line " + std::to_string(*document.line) : "") +
         (grants ? " allows it: " : " does not: ") + document.rule;
}

std::string mechanism_text(const Explanation& one) {
  if (one.view.mechanism.empty()) {
    return "nothing that is built here sees it";
  }
  const bool own =
      one.view.rule.starts_with("self_protection.") || one.view.rule.starts_with("compat.");
  std::string text = "by " + one.view.mechanism;
  text += own ? " (" + one.view.rule + ")" : "";
  return one.view.note.empty() ? text : text + ", " + one.view.note;
}

std::string answer_text(const Explanation& one, const planner::ResolvedPolicy& policy) {
  std::string verdict = planner::verdict_token(one.verdict);
  if (one.verdict == planner::ActionVerdict::kDenied && one.view.os_errno != 0) {
    verdict += " (" + errno_name(one.view.os_errno) + ")";
  }
  std::string out = "  " + padded(one.action.operation, 9) + padded(std::move(verdict), 17) +
                    statement_text(one, policy) + "\n";
  for (const Explanation& needed : one.needs) {
    std::string word = planner::verdict_token(needed.verdict);
    word += needed.host_errno == 0 ? "" : ", the host itself: " + errno_name(needed.host_errno);
    out += "    " + padded(needed.needed_as, 12) + escape_for_display(needed.action.object) + ": " +
           word + ", " + statement_text(needed, policy) + "\n";
  }
  const std::string indent(28, ' ');
  for (const planner::DocumentSaying& document : one.documents) {
    out += indent + document_text(document) + "\n";
  }
  out += indent + mechanism_text(one) + "; record: " + one.record + "\n";
  if (one.host_errno != 0) {
    out += indent + "the host itself answers " + errno_name(one.host_errno) + ": " +
           std::strerror(one.host_errno) + "\n";
  }
  return out;
}

std::string object_text(const planner::ExplainedObject& object,
                        const planner::ResolvedPolicy& policy) {
  std::string out = escape_for_display(object.asked);
  out += object.resolved.empty() || object.resolved == object.asked
             ? "\n"
             : " is " + escape_for_display(object.resolved) + "\n";
  for (const auto& [place, target] : object.links) {
    out += "  link " + escape_for_display(place) + " leads to " + escape_for_display(target) + "\n";
  }
  for (const std::string& note : object.notes) {
    out += "  note: " + escape_for_display(note) + "\n";
  }
  for (const Explanation& one : object.answers) {
    out += answer_text(one, policy);
  }
  return out;
}

JsonValue optional_text(const std::string& text) {
  return text.empty() ? JsonValue() : JsonValue(text);
}

JsonValue errno_json(int os_errno) {
  return os_errno == 0 ? JsonValue() : JsonValue(errno_name(os_errno));
}

const char* word_token(planner::PolicyWord word) {
  switch (word) {
    case planner::PolicyWord::kAllowed:
      return "allowed";
    case planner::PolicyWord::kDenied:
      return "denied";
    case planner::PolicyWord::kNotStated:
      return "not_stated";
  }
  return "";
}

JsonValue documents_json(const Explanation& one) {
  JsonValue::Array items;
  for (const planner::DocumentSaying& document : one.documents) {
    items.emplace_back(
        JsonValue::Object{{"document", schema::PathBytes(document.source).display()},
                          {"policy", word_token(document.word)},
                          {"rule", document.rule},
                          {"line", document.line ? JsonValue(*document.line) : JsonValue()}});
  }
  return items;
}

JsonValue needs_json(const Explanation& one, const planner::ResolvedPolicy& policy) {
  JsonValue::Array items;
  for (const Explanation& needed : one.needs) {
    const std::string document = needed.rule.empty() ? "" : document_of(needed.rule, policy);
    items.emplace_back(
        JsonValue::Object{{"as", needed.needed_as},
                          {"object", schema::PathBytes(needed.action.object).display()},
                          {"verdict", planner::verdict_token(needed.verdict)},
                          {"policy", word_token(needed.policy)},
                          {"rule", optional_text(needed.rule)},
                          {"document", optional_text(schema::PathBytes(document).display())},
                          {"line", needed.line ? JsonValue(*needed.line) : JsonValue()},
                          {"host_errno", errno_json(needed.host_errno)}});
  }
  return items;
}

JsonValue answer_json(const Explanation& one, const planner::ResolvedPolicy& policy) {
  const std::string document = one.rule.empty() ? "" : document_of(one.rule, policy);
  return JsonValue::Object{{"domain", token(one.action.domain)},
                           {"operation", one.action.operation},
                           {"object", schema::PathBytes(one.action.object).display()},
                           {"verdict", planner::verdict_token(one.verdict)},
                           {"policy", word_token(one.policy)},
                           {"rule", optional_text(one.rule)},
                           {"document", optional_text(schema::PathBytes(document).display())},
                           {"line", one.line ? JsonValue(*one.line) : JsonValue()},
                           {"documents", documents_json(one)},
                           {"mechanism", optional_text(one.view.mechanism)},
                           {"mechanism_rule", optional_text(one.view.rule)},
                           {"errno", errno_json(one.view.os_errno)},
                           {"note", optional_text(one.view.note)},
                           {"record", one.record},
                           {"host_errno", errno_json(one.host_errno)},
                           {"needs", needs_json(one, policy)}};
}

JsonValue object_json(const planner::ExplainedObject& object,
                      const planner::ResolvedPolicy& policy) {
  JsonValue::Array links;
  for (const auto& [place, target] : object.links) {
    links.push_back(JsonValue::Object{{"place", schema::PathBytes(place).display()},
                                      {"target", schema::PathBytes(target).display()}});
  }
  JsonValue::Array answers;
  for (const Explanation& one : object.answers) {
    answers.push_back(answer_json(one, policy));
  }
  JsonValue::Array notes(object.notes.begin(), object.notes.end());
  return JsonValue::Object{
      {"asked", schema::PathBytes(object.asked).display()},
      {"kind", object.kind},
      {"resolved", optional_text(schema::PathBytes(object.resolved).display())},
      {"links", std::move(links)},
      {"notes", std::move(notes)},
      {"answers", std::move(answers)}};
}

}  // namespace

std::string explain_text(const planner::ResolvedPolicy& policy, const LaunchOutlook& outlook,
                         const std::vector<planner::ExplainedObject>& objects) {
  std::string out = "policy " + escape_for_display(policy.source_path) + ", " +
                    std::string(token(policy.record.state)) + "; ";
  out += outlook.word == "not_measured" ? "a run now was not measured"
                                        : "a run now would be " + outlook.word;
  out += outlook.backend.empty() ? "\n" : " with " + outlook.backend + "\n";
  if (outlook.word == "refused") {
    out += "  no program would start; what follows is what the boundary would be otherwise\n";
  }
  for (const auto& [word, text] : outlook.notes) {
    out += "  " + word + ": " + escape_for_display(text) + "\n";
  }
  for (const planner::ExplainedObject& object : objects) {
    out += object_text(object, policy);
  }
  return out;
}

JsonValue explain_json(const planner::ResolvedPolicy& policy, const LaunchOutlook& outlook,
                       const std::vector<planner::ExplainedObject>& objects) {
  JsonValue::Array notes;
  for (const auto& [word, text] : outlook.notes) {
    notes.push_back(JsonValue::Object{{"word", word}, {"text", text}});
  }
  JsonValue::Array items;
  for (const planner::ExplainedObject& object : objects) {
    items.push_back(object_json(object, policy));
  }
  return JsonValue::Object{{"schema", "aasm.policy-explain/1"},
                           {"policy", schema::PathBytes(policy.source_path).display()},
                           {"state", token(policy.record.state)},
                           {"launch", outlook.word},
                           {"backend", optional_text(outlook.backend)},
                           {"launch_notes", std::move(notes)},
                           {"objects", std::move(items)}};
}

}  // namespace aasm::cli
