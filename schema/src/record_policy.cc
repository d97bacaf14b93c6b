#include "aasm/schema/record_policy.h"

#include <algorithm>
#include <set>

namespace aasm::schema {
namespace {

Error invalid(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

}  // namespace

Result<void> Selector::check() const {
  const bool whole = type == SelectorType::kWhole;
  if (whole != value.empty()) {
    return invalid("a selector has a value exactly when it is not the whole domain");
  }
  return {};
}

Result<void> PolicyRule::check() const {
  if (id.empty() || operation.empty()) {
    return invalid("a rule has an id and an operation");
  }
  if ((line && *line < 1) || (column && (*column < 1 || !line))) {
    return invalid("lines and columns count from 1, and a column is one of a line");
  }
  return {};
}

Result<void> Requirement::check() const {
  if (default_rule.empty()) {
    return invalid("a requirement has a default rule");
  }
  if (on_denial && (*on_denial != "kill" || domain != Domain::kNetworkEgress)) {
    return invalid("on_denial of a requirement is kill, on network_egress");
  }
  return {};
}

bool Requirement::names_rule(std::string_view rule_id) const {
  return rule_id == default_rule || std::any_of(rules.begin(), rules.end(), [&](const auto& rule) {
           return rule.id == rule_id;
         });
}

namespace {

Result<void> check_sources(const PolicyResolved& policy, bool loaded) {
  if (policy.scope.has_value() != policy.extends.has_value()) {
    return invalid("a scope is stated exactly when other documents are");
  }
  if (!policy.extends) {
    return {};
  }
  if (!loaded || policy.extends->empty()) {
    return invalid("other documents belong to a policy that was loaded");
  }
  std::set<PolicyScope> seen = {*policy.scope};
  const bool distinct = std::all_of(policy.extends->begin(), policy.extends->end(),
                                    [&](const auto& one) { return seen.insert(one.scope).second; });
  return distinct ? Result<void>() : invalid("two documents of one scope");
}

Result<void> check_parts(const PolicyResolved& policy) {
  if (policy.part.has_value() != policy.parts.has_value()) {
    return invalid("a part is one of a number of parts");
  }
  if (!policy.part) {
    return {};
  }
  if (*policy.part < 1 || *policy.parts < 2) {
    return invalid("parts count from 1, and one is none");
  }
  return *policy.part <= *policy.parts ? Result<void>() : invalid("a part past the last");
}

}  // namespace

Result<void> PolicyResolved::check() const {
  AASM_TRY(check_parts(*this));
  for (auto at = requirements.begin(); at != requirements.end(); ++at) {
    const auto same = [&](const Requirement& other) { return other.domain == at->domain; };
    if (std::any_of(std::next(at), requirements.end(), same)) {
      return invalid("two requirements on one domain");
    }
  }
  if (on_denial != "errno" && on_denial != "kill") {
    return invalid("on_denial is errno or kill");
  }
  const bool failed = state == PolicyState::kLoadFailed;
  if (failed == error.empty()) {
    return invalid("an error is stated exactly when loading failed");
  }
  const bool loaded = state == PolicyState::kEnforced || state == PolicyState::kPermissive;
  if (loaded && !document) {
    return invalid("a loaded policy has a document digest");
  }
  if (!loaded && !requirements.empty()) {
    return invalid("requirements without a loaded policy");
  }
  return check_sources(*this, loaded);
}

bool PolicyResolved::kills() const {
  return on_denial == "kill" || std::any_of(requirements.begin(), requirements.end(),
                                            [](const Requirement& one) { return one.on_denial; });
}

bool PolicyResolved::kills(Domain domain) const {
  const Requirement* requirement = requirement_for(domain);
  return on_denial == "kill" || (requirement != nullptr && requirement->on_denial);
}

const Requirement* PolicyResolved::requirement_for(Domain domain) const {
  const auto at = std::find_if(requirements.begin(), requirements.end(),
                               [&](const Requirement& one) { return one.domain == domain; });
  return at == requirements.end() ? nullptr : &*at;
}

}  // namespace aasm::schema
