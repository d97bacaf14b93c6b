#include "requested_text.h"

#include <algorithm>
#include <cstddef>

#include "text.h"

namespace aasm::claims {
namespace {

using schema::PolicyRule;
using schema::Requirement;
using schema::SelectorType;

// Enough to recognise the rule set; the whole of it stands in policy.resolved.
constexpr std::size_t kSelectorsShown = 16;

bool is_type(const PolicyRule& rule, SelectorType type) {
  return rule.selector.type == type;
}

std::string limits_text(const Requirement& requirement) {
  std::string text = "limits:";
  for (const PolicyRule& rule : requirement.rules) {
    text += " " + rule.id + "=" + rule.selector.value.bytes();
  }
  return text;
}

std::string selectors_text(const Requirement& requirement) {
  const std::size_t count = requirement.rules.size();
  std::string text = "selectors[" + std::to_string(count) + "]:";
  for (std::size_t i = 0; i < std::min(count, kSelectorsShown); ++i) {
    const PolicyRule& rule = requirement.rules[i];
    text += (i == 0 ? " " : ", ") + name_of(rule.effect) + " " + rule.operation;
    if (!is_type(rule, SelectorType::kWhole)) {
      text += " " + rule.selector.value.bytes();
    }
  }
  if (count > kSelectorsShown) {
    text += ", and " + std::to_string(count - kSelectorsShown) + " more";
  }
  return text;
}

std::string scope_text(const Requirement& requirement) {
  const auto& rules = requirement.rules;
  if (rules.empty()) {
    return "selectors[0]: nothing permitted";
  }
  const auto all = [&](SelectorType type) {
    return std::all_of(rules.begin(), rules.end(),
                       [&](const PolicyRule& rule) { return is_type(rule, type); });
  };
  if (all(SelectorType::kLimit)) {
    return limits_text(requirement);
  }
  return all(SelectorType::kWhole) ? "whole_domain" : selectors_text(requirement);
}

}  // namespace

std::string requested_text(const Requirement& requirement) {
  return "intent=" + name_of(requirement.intent) + ", posture=" + name_of(requirement.posture) +
         ", descendants=" + name_of(requirement.descendants) + ", scope=" + scope_text(requirement);
}

}  // namespace aasm::claims
