#include "aasm/planner/widening.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace aasm::planner {
namespace {

using schema::Domain;
using schema::PolicyRule;
using schema::Requirement;
using schema::RuleEffect;
using schema::Selector;
using schema::SelectorType;

using Rules = std::vector<const PolicyRule*>;

Rules rules_of(const Requirement& requirement, std::string_view operation, RuleEffect effect) {
  Rules rules;
  for (const PolicyRule& rule : requirement.rules) {
    if (rule.operation == operation && rule.effect == effect) {
      rules.push_back(&rule);
    }
  }
  return rules;
}

bool has_operation(const Requirement& requirement, std::string_view operation) {
  return std::any_of(requirement.rules.begin(), requirement.rules.end(),
                     [&](const PolicyRule& rule) { return rule.operation == operation; });
}

std::vector<Selector> selectors_of(const Rules& rules) {
  std::vector<Selector> selectors;
  for (const PolicyRule* rule : rules) {
    selectors.push_back(rule->selector);
  }
  return selectors;
}

// What a requirement says of one operation.
struct Side {
  bool open = false;  // this part of the domain is not stated
  Rules allow;
  Rules deny;
};

// Execution follows reading where no rule is about it (docs/spec/policy.md).
Side side_of(const Requirement& requirement, std::string_view operation) {
  if (operation == "execute" && !has_operation(requirement, operation)) {
    operation = "read";
  }
  Side side;
  side.allow = rules_of(requirement, operation, RuleEffect::kAllow);
  side.deny = rules_of(requirement, operation, RuleEffect::kDeny);
  return side;
}

bool of_type(const PolicyRule& rule, SelectorType type) {
  return rule.selector.type == type;
}

void keep_type(Rules& rules, SelectorType type) {
  rules.erase(std::remove_if(rules.begin(), rules.end(),
                             [&](const PolicyRule* rule) { return !of_type(*rule, type); }),
              rules.end());
}

class Comparison {
 public:
  Comparison(const Requirement& outer, const Requirement& inner, const GroupMembers& groups)
      : outer_(outer), inner_(inner), groups_(groups) {}

  std::vector<Widening> run() {
    strength();
    switch (outer_.domain) {
      case Domain::kFilesystemRead:
        operation("read");
        operation("execute");
        break;
      case Domain::kFilesystemWrite:
        operation("write");
        break;
      case Domain::kNetworkEgress:
        operation("connect");
        operation("bind");
        break;
      case Domain::kNameResolution:
        operation("resolve");
        break;
      case Domain::kSyscall:
        operation("call");
        break;
      case Domain::kProcessCreation:
        operation("create");
        break;
      case Domain::kIpc:
        operation("connect");
        restrictions(RuleEffect::kDeny);
        break;
      case Domain::kCredential:
        credentials();
        break;
      case Domain::kResource:
        restrictions(RuleEffect::kAllow);
        break;
    }
    return std::move(found_);
  }

 private:
  void add(const std::string& rule, std::string reason) {
    const auto same = [&](const Widening& one) { return one.rule == rule && one.reason == reason; };
    if (std::none_of(found_.begin(), found_.end(), same)) {
      found_.push_back({inner_.domain, rule, std::move(reason)});
    }
  }

  void strength() {
    if (inner_.posture != outer_.posture &&
        (outer_.posture == schema::RequirementPosture::kRequired ||
         inner_.posture == schema::RequirementPosture::kOptional)) {
      add(inner_.default_rule, "its posture is " + std::string(token(inner_.posture)) +
                                   " where the outer one is " + std::string(token(outer_.posture)));
    }
    if (inner_.intent > outer_.intent) {
      add(inner_.default_rule, "it observes where the outer policy prevents");
    }
    if (inner_.descendants > outer_.descendants) {
      add(inner_.default_rule, "it reaches fewer processes than the outer policy asks for");
    }
    if (inner_.evidence < outer_.evidence) {
      add(inner_.default_rule, "it asks for less evidence than the outer policy");
    }
  }

  void operation(std::string_view name) { compare(side_of(outer_, name), side_of(inner_, name)); }

  void compare(const Side& outer, const Side& inner) {
    if (outer.open) {
      return;
    }
    if (inner.open) {
      add(inner_.default_rule, "it leaves open what " + outer_.default_rule + " states");
      return;
    }
    const std::vector<Selector> denied = selectors_of(inner.deny);
    std::vector<Selector> permitted = selectors_of(outer.allow);
    permitted.insert(permitted.end(), denied.begin(), denied.end());
    for (const PolicyRule* rule : inner.allow) {
      if (!covered_by(rule->selector, permitted, groups_)) {
        add(rule->id, "no grant of " + outer_.default_rule + " covers it");
      }
      for (const PolicyRule* refusal : outer.deny) {
        for (const Selector& both : intersect(rule->selector, refusal->selector, groups_)) {
          if (!covered_by(both, denied, groups_)) {
            add(rule->id, "the outer policy denies a part of it: " + refusal->id);
          }
        }
      }
    }
  }

  // Limits and settings: one that is missing leaves the thing without.
  void restrictions(RuleEffect effect) {
    for (const PolicyRule& limit : outer_.rules) {
      if (limit.effect != effect || !of_type(limit, SelectorType::kLimit)) {
        continue;
      }
      const Rules own = rules_of(inner_, limit.operation, effect);
      if (own.empty()) {
        add(limit.id, "it does not state it");
      }
      for (const PolicyRule* rule : own) {
        if (!contains(limit.selector, rule->selector)) {
          add(rule->id, "it goes beyond the outer limit");
        }
      }
    }
  }

  void credentials() {
    Side outer = side_of(outer_, "inherit");
    Side inner = side_of(inner_, "inherit");
    Side outer_descriptors = outer;
    Side inner_descriptors = inner;
    keep_type(outer_descriptors.allow, SelectorType::kDescriptor);
    keep_type(inner_descriptors.allow, SelectorType::kDescriptor);
    compare(outer_descriptors, inner_descriptors);
    keep_type(outer.allow, SelectorType::kEnvironmentName);
    keep_type(inner.allow, SelectorType::kEnvironmentName);
    const auto open = [](const Requirement& requirement, const Side& side) {
      return side.allow.empty() && requirement.default_rule == "credentials.descriptors.allow";
    };
    outer.open = open(outer_, outer);
    inner.open = open(inner_, inner);
    compare(outer, inner);
  }

  const Requirement& outer_;
  const Requirement& inner_;
  const GroupMembers& groups_;
  std::vector<Widening> found_;
};

}  // namespace

std::vector<Widening> widening(const Requirement& outer, const Requirement& inner,
                               const GroupMembers& groups) {
  if (outer.domain != inner.domain) {
    return {{inner.domain, inner.default_rule, "it is about another domain"}};
  }
  return Comparison(outer, inner, groups).run();
}

std::vector<Widening> widening(const std::vector<Requirement>& outer,
                               const std::vector<Requirement>& inner, const GroupMembers& groups) {
  std::vector<Widening> all;
  for (const Requirement& requirement : outer) {
    const Requirement* own = requirement_on(inner, requirement.domain);
    if (own == nullptr) {
      all.push_back({requirement.domain, requirement.default_rule, "it does not state the domain"});
      continue;
    }
    for (Widening& one : widening(requirement, *own, groups)) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::vector<Widening> widening(const CredentialGrants& outer, const CredentialGrants& inner) {
  const auto beyond = [](const auto& list, const auto& allowed) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) {
      return std::find(allowed.begin(), allowed.end(), one) == allowed.end();
    });
  };
  std::vector<Widening> found;
  if (outer.environment && (!inner.environment || beyond(*inner.environment, *outer.environment))) {
    found.push_back({Domain::kCredential, "credentials.environment.allow",
                     "it passes on a variable that the outer policy does not"});
  }
  const std::vector<int> standard = {0, 1, 2};
  if (beyond(inner.descriptors.value_or(standard), outer.descriptors.value_or(standard))) {
    found.push_back({Domain::kCredential, "credentials.descriptors.allow",
                     "it leaves a descriptor open that the outer policy closes"});
  }
  return found;
}

}  // namespace aasm::planner
