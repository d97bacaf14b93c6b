#include "aasm/planner/plan.h"

#include <algorithm>
#include <utility>

#include "aasm/schema/fields.h"
#include "aasm/schema/json_write.h"

namespace aasm::planner {
namespace {

using schema::JsonValue;

JsonValue rule_meaning(const schema::PolicyRule& rule) {
  return JsonValue(JsonValue::Object{{"effect", JsonValue(schema::token(rule.effect))},
                                     {"operation", JsonValue(rule.operation)},
                                     {"selector", schema::write_fields(rule.selector)}});
}

// A set, in the order of the canonical texts.
JsonValue sorted_set(std::vector<JsonValue> items) {
  std::vector<std::pair<std::string, JsonValue>> keyed;
  keyed.reserve(items.size());
  for (JsonValue& item : items) {
    keyed.emplace_back(schema::json_write(item), std::move(item));
  }
  std::sort(keyed.begin(), keyed.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  JsonValue::Array sorted;
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    if (i == 0 || keyed[i].first != keyed[i - 1].first) {
      sorted.push_back(std::move(keyed[i].second));
    }
  }
  return JsonValue(std::move(sorted));
}

JsonValue requirement_meaning(const schema::Requirement& requirement) {
  std::vector<JsonValue> rules;
  for (const schema::PolicyRule& rule : requirement.rules) {
    rules.push_back(rule_meaning(rule));
  }
  return JsonValue(
      JsonValue::Object{{"domain", JsonValue(schema::token(requirement.domain))},
                        {"intent", JsonValue(schema::token(requirement.intent))},
                        {"posture", JsonValue(schema::token(requirement.posture))},
                        {"descendants", JsonValue(schema::token(requirement.descendants))},
                        {"evidence", JsonValue(schema::token(requirement.evidence))},
                        {"rules", sorted_set(std::move(rules))}});
}

JsonValue strings(const std::vector<std::string>& list) {
  return JsonValue(JsonValue::Array(list.begin(), list.end()));
}

JsonValue spec_meaning(const ExecutionSpec& spec) {
  std::vector<JsonValue> requirements;
  for (const schema::Requirement& requirement : spec.requirements) {
    requirements.push_back(requirement_meaning(requirement));
  }
  return JsonValue(JsonValue::Object{
      {"identity", schema::write_fields(spec.identity)},
      {"program", spec.program.to_json()},
      {"arg_count", JsonValue(spec.arg_count)},
      {"working_dir", spec.working_dir.to_json()},
      {"requirements", sorted_set(std::move(requirements))},
      {"on_denial", JsonValue(spec.on_denial)},
      {"credentials", JsonValue(JsonValue::Object{
                          {"removed", strings(spec.credentials.removed)},
                          {"delegated", strings(spec.credentials.delegated)},
                          {"ambient_unremoved", strings(spec.credentials.ambient_unremoved)}})}});
}

// Without the sentence for people, which names lines of the document.
JsonValue outcome_meaning(schema::RequirementOutcome outcome) {
  outcome.detail.clear();
  return schema::write_fields(outcome);
}

}  // namespace

std::string plan_canonical_text(const ExecutionSpec& spec, const schema::PlanResolved& plan) {
  JsonValue::Array outcomes;
  for (const schema::RequirementOutcome& outcome : plan.outcomes) {
    outcomes.push_back(outcome_meaning(outcome));
  }
  JsonValue::Object text{{"format", JsonValue("aasm-plan/1")},
                         {"spec", spec_meaning(spec)},
                         {"requested", JsonValue(schema::token(plan.requested))},
                         {"selection", JsonValue(schema::token(plan.selection))},
                         {"experimental", JsonValue(plan.experimental)},
                         {"posture", JsonValue(schema::token(plan.posture))},
                         {"outcomes", JsonValue(std::move(outcomes))},
                         {"steps", strings(plan.steps)}};
  if (plan.backend) {
    text.emplace_back("backend", schema::write_fields(*plan.backend));
  }
  return schema::json_write(JsonValue(std::move(text)));
}

schema::Sha256 plan_digest(const ExecutionSpec& spec, const schema::PlanResolved& plan,
                           const HashFunction& hash) {
  return hash(schema::as_bytes(plan_canonical_text(spec, plan)));
}

}  // namespace aasm::planner
