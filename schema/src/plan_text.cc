#include "aasm/schema/plan_text.h"

#include <algorithm>
#include <utility>

#include "aasm/schema/fields.h"
#include "aasm/schema/json_write.h"

namespace aasm::schema {
namespace {

JsonValue rule_meaning(const PolicyRule& rule) {
  return JsonValue(JsonValue::Object{{"effect", JsonValue(token(rule.effect))},
                                     {"operation", JsonValue(rule.operation)},
                                     {"selector", write_fields(rule.selector)}});
}

// A set, in the order of the canonical texts.
JsonValue sorted_set(std::vector<JsonValue> items) {
  std::vector<std::pair<std::string, JsonValue>> keyed;
  keyed.reserve(items.size());
  for (JsonValue& item : items) {
    keyed.emplace_back(json_write(item), std::move(item));
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

JsonValue requirement_meaning(const Requirement& requirement) {
  std::vector<JsonValue> rules;
  for (const PolicyRule& rule : requirement.rules) {
    rules.push_back(rule_meaning(rule));
  }
  JsonValue::Object meaning{{"domain", JsonValue(token(requirement.domain))},
                            {"intent", JsonValue(token(requirement.intent))},
                            {"posture", JsonValue(token(requirement.posture))},
                            {"descendants", JsonValue(token(requirement.descendants))},
                            {"evidence", JsonValue(token(requirement.evidence))},
                            {"rules", sorted_set(std::move(rules))}};
  if (requirement.on_denial) {
    meaning.emplace_back("on_denial", JsonValue(*requirement.on_denial));
  }
  return JsonValue(std::move(meaning));
}

JsonValue strings(const std::vector<std::string>& list) {
  return JsonValue(JsonValue::Array(list.begin(), list.end()));
}

JsonValue subject_meaning(const PlanSubject& subject) {
  std::vector<JsonValue> requirements;
  for (const Requirement& requirement : subject.requirements) {
    requirements.push_back(requirement_meaning(requirement));
  }
  return JsonValue(JsonValue::Object{{"identity", write_fields(subject.identity)},
                                     {"program", subject.program.to_json()},
                                     {"arg_count", JsonValue(subject.arg_count)},
                                     {"working_dir", subject.working_dir.to_json()},
                                     {"requirements", sorted_set(std::move(requirements))},
                                     {"on_denial", JsonValue(subject.on_denial)}});
}

// Without the sentence for people, which names lines of the document.
JsonValue outcome_meaning(RequirementOutcome outcome) {
  outcome.detail.clear();
  return write_fields(outcome);
}

}  // namespace

PlanSubject plan_subject(const RunOpened& opened, const PolicyResolved& policy) {
  return {opened.identity,    opened.program,      opened.arg_count,
          opened.working_dir, policy.requirements, policy.on_denial};
}

std::string plan_canonical_text(const PlanSubject& subject, const PlanResolved& plan) {
  JsonValue::Array outcomes;
  for (const RequirementOutcome& outcome : plan.outcomes) {
    outcomes.push_back(outcome_meaning(outcome));
  }
  JsonValue::Object text{{"format", JsonValue("aasm-plan/2")},
                         {"subject", subject_meaning(subject)},
                         {"requested", JsonValue(token(plan.requested))},
                         {"selection", JsonValue(token(plan.selection))},
                         {"experimental", JsonValue(plan.experimental)},
                         {"posture", JsonValue(token(plan.posture))},
                         {"outcomes", JsonValue(std::move(outcomes))},
                         {"steps", strings(plan.steps)}};
  if (plan.backend) {
    text.emplace_back("backend", write_fields(*plan.backend));
  }
  return json_write(JsonValue(std::move(text)));
}

}  // namespace aasm::schema
