#include "control_parts.h"

#include <utility>

#include "lowering.h"

namespace aasm::backend_native {
namespace {

using schema::Control;
using schema::Domain;
using schema::Purpose;
using schema::Requirement;
using wire::Step;

// What denials of this requirement may cite.
std::vector<std::string> denial_rules(const Requirement& requirement) {
  std::vector<std::string> rules = {requirement.default_rule};
  for (const schema::PolicyRule& rule : requirement.rules) {
    if (rule.effect == schema::RuleEffect::kDeny) {
      rules.push_back(rule.id);
    }
  }
  return rules;
}

}  // namespace

Control control_of(const PreparedFacts& facts, std::string id, Domain domain, Step step) {
  Control control;
  control.id = std::move(id);
  control.domain = domain;
  control.purpose = Purpose::kSelfProtection;
  control.step = wire::step_name(step);
  const auto index = static_cast<std::size_t>(step);
  if (index < facts.steps.size()) {
    const wire::StepReport& report = facts.steps[index];
    control.installed = report.state == static_cast<std::uint32_t>(wire::StepState::kDone);
    control.os_errno = report.os_errno;
  }
  return control;
}

void serve_policy(const PreparedFacts& facts, Control& control) {
  const Requirement* requirement = requirement_on(facts.request.spec.requirements, control.domain);
  if (requirement != nullptr) {
    control.purpose = Purpose::kPolicy;
    control.rules = denial_rules(*requirement);
  }
}

}  // namespace aasm::backend_native
