#include <algorithm>
#include <utility>

#include "aasm/planner/cascade.h"
#include "aasm/planner/selector.h"

#include "explaining.h"

namespace aasm::planner {
namespace {

using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;
using schema::Selector;

// What one list of requirements is asked for: that of the policy, or of one of its documents.
struct Statements {
  const std::vector<Requirement>& requirements;
  const std::vector<DomainPlace>& places;
};

// The word of the policy that speaks of an operation: execution follows reading where it is not
// stated, and making and removing names is writing.
std::string stated_operation(const Requirement& requirement, const std::string& operation) {
  if (operation == "create" || operation == "remove") {
    return "write";
  }
  const bool stated =
      std::any_of(requirement.rules.begin(), requirement.rules.end(),
                  [&](const PolicyRule& rule) { return rule.operation == operation; });
  return operation == "execute" && !stated ? "read" : operation;
}

// What is said where no rule covers the object. Rules of `execute` are a list of their own.
PolicySaying default_saying(const Statements& statements, const Requirement& requirement,
                            const std::string& operation) {
  PolicySaying saying{PolicyWord::kDenied, requirement.default_rule, std::nullopt, {}};
  for (const PolicyRule& rule : requirement.rules) {
    if (operation == "execute" && rule.operation == operation) {
      saying.rule = rule.id.substr(0, rule.id.find('['));
      saying.line = rule.line;
      return saying;
    }
  }
  // Of several documents the place may be in another than the list that is cited.
  const auto scope = [](const std::string& id) { return id.substr(0, id.find(':') + 1); };
  for (const DomainPlace& place : statements.places) {
    if (place.domain == requirement.domain && place.at.line > 0 &&
        scope(place.node) == scope(requirement.default_rule)) {
      saying.line = place.at.line;
    }
  }
  return saying;
}

PolicySaying saying_of(const Statements& statements, const Action& action, const Selector& object,
                       const Selector& denied, const GroupMembers& groups) {
  const Requirement* requirement = requirement_on(statements.requirements, action.domain);
  if (requirement == nullptr) {
    return {};
  }
  const std::string operation = stated_operation(*requirement, action.operation);
  const PolicyRule* narrowest = nullptr;
  for (const PolicyRule& rule : requirement->rules) {
    if (rule.operation != operation) {
      continue;
    }
    if (rule.effect == RuleEffect::kDeny && contains(rule.selector, denied, groups)) {
      return {PolicyWord::kDenied, rule.id, rule.line, {}};
    }
    if (rule.effect == RuleEffect::kAllow && contains(rule.selector, object, groups) &&
        (narrowest == nullptr || contains(narrowest->selector, rule.selector, groups))) {
      narrowest = &rule;
    }
  }
  return narrowest == nullptr
             ? default_saying(statements, *requirement, operation)
             : PolicySaying{PolicyWord::kAllowed, narrowest->id, narrowest->line, {}};
}

}  // namespace

PolicySaying what_policy_says(const ExplainInput& input, const Action& action,
                              const Selector& object, const Selector& denied) {
  const GroupMembers groups = [&](std::string_view group) {
    return input.vocabulary.members(group);
  };
  PolicySaying whole =
      saying_of({input.requirements, input.places}, action, object, denied, groups);
  if (whole.word != PolicyWord::kDenied) {
    return whole;
  }
  bool granted = false;
  for (const DocumentStatements& one : input.documents) {
    const PolicySaying own =
        saying_of({one.requirements, one.places}, action, object, denied, groups);
    granted = granted || own.word == PolicyWord::kAllowed;
    if (own.word != PolicyWord::kNotStated) {
      whole.documents.push_back({one.source, own.word, scoped(one.scope, own.rule), own.line});
    }
  }
  if (!granted) {
    whole.documents.clear();
  }
  return whole;
}

}  // namespace aasm::planner
